// What a server streams to the load generator, cut anywhere: the first byte says how long the pieces are. And forms
// with files that clients send.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/streamed_answer.h"
#include "server/multipart.h"

namespace {

using adit::cli::StreamedAnswer;

size_t Read(StreamedAnswer& answer, std::string_view stream, size_t piece) {
  size_t num_pieces = 0;
  for (size_t at = 0; at < stream.size(); at += piece) num_pieces += answer.Append(stream.substr(at, piece));
  return num_pieces;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  StreamedAnswer whole(/*keeps_text=*/true);
  StreamedAnswer cut(/*keeps_text=*/true);
  const size_t num_pieces = Read(whole, text, std::max<size_t>(1, text.size()));
  ADIT_CHECK(Read(cut, text, 1 + data[0] % 16) == num_pieces);
  ADIT_CHECK(cut.text() == whole.text() && cut.error() == whole.error() && cut.done() == whole.done());
  (void)adit::cli::ErrorName(500, text);
  const auto parts = adit::server::ParseForm("multipart/form-data; boundary=B", text);
  if (!parts.ok()) return 0;
  for (const adit::server::FormPart& part : *parts) {
    ADIT_CHECK(part.content.empty() || (part.content.data() >= text.data() &&
                                        part.content.data() + part.content.size() <= text.data() + text.size()));
  }
  return 0;
}
