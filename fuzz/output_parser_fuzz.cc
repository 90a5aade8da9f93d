// A model's text, taken apart whole and in pieces: the first byte says how the text is read, the second how it is cut.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "server/output_parser.h"

namespace {

using namespace adit::server;  // NOLINT(google-build-using-namespace)

// Deltas as one text that does not show how they came.
std::string Told(const OutputWish& wish, std::string_view text, size_t piece) {
  const auto parser = MakeOutputParser(wish);
  std::vector<OutputDelta> deltas;
  for (size_t at = 0; at < text.size(); at += piece) {
    std::vector<OutputDelta> news;
    parser->Append(text.substr(at, piece), news);
    for (OutputDelta& delta : news) {
      if (delta.kind == OutputDelta::Kind::kToolCall) {
        deltas.push_back(std::move(delta));
      } else {
        AddText(delta.kind, delta.text, deltas);
      }
    }
  }
  parser->Finish(deltas);
  std::vector<OutputDelta> joined;
  std::string told;
  for (const OutputDelta& delta : deltas) {
    if (delta.kind == OutputDelta::Kind::kToolCall) {
      joined.push_back(delta);
    } else {
      AddText(delta.kind, delta.text, joined);
    }
  }
  for (const OutputDelta& delta : joined) {
    told += std::to_string(static_cast<int>(delta.kind)) + delta.name + '\0' + delta.text + '\0';
  }
  return told;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  OutputWish wish{.tools = static_cast<ToolSyntax>(data[0] % kNumToolSyntaxes),
                  .reasoning = static_cast<ReasoningSyntax>(data[0] / kNumToolSyntaxes % kNumReasoningSyntaxes),
                  .parallel_calls = data[1] < 128};
  if (MakeOutputParser(wish) == nullptr) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string whole = Told(wish, text, text.size() + 1);
  ADIT_CHECK(Told(wish, text, 1) == whole);
  ADIT_CHECK(Told(wish, text, data[1] % 16 + 1) == whole);
  return 0;
}
