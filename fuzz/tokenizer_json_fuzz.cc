// tokenizer.json of arbitrary content, and a text for what loads. The input is the JSON, a zero byte, and the text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "tokenizer/detokenizer.h"
#include "tokenizer/json_document.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

void CheckDecoding(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool with_special) {
  const auto whole = tokenizer.Decode(ids, with_special);
  ADIT_CHECK(whole.ok());
  IncrementalDetokenizer detokenizer(tokenizer, with_special);
  std::string joined;
  for (const int32_t id : ids) {
    const std::string piece = detokenizer.Append(id);
    ADIT_CHECK(IsValidUtf8(piece));
    joined += piece;
  }
  joined += detokenizer.Finish();
  ADIT_CHECK(joined == ReplaceInvalidUtf8(*whole));
}

void CheckText(const Tokenizer& tokenizer, std::string_view text) {
  for (const bool trusted : {false, true}) {
    const std::vector<int32_t> ids = tokenizer.Encode(text, trusted, trusted);
    for (const int32_t id : ids) {
      ADIT_CHECK(id >= 0 && id < tokenizer.vocab_size());
      ADIT_CHECK(trusted || tokenizer.Type(id) != TokenType::kControl);
    }
    CheckDecoding(tokenizer, ids, trusted);
  }
  const std::string_view half = text.substr(0, text.size() / 2);
  const std::vector<TextSegment> segments = {{half, true}, {text.substr(half.size()), false}, {half, true}};
  CheckDecoding(tokenizer, tokenizer.Encode(segments, true), true);
}

void Fuzz(std::string_view input) {
  const size_t border = input.find('\0');
  const std::string_view json = input.substr(0, border);
  const std::string_view text = border == std::string_view::npos ? "a b" : input.substr(border + 1);
  const auto document = JsonDocument::Parse(json, "fuzz");
  if (!document.ok()) {
    ADIT_CHECK(!document.status().message().empty());
    return;
  }
  const JsonValue root = document->root();
  const SideFiles files = {root["tokenizer_config"], root["special_tokens_map"], root["generation_config"]};
  const auto tokenizer = MakeTokenizerJson(root, files, "fuzz");
  if (!tokenizer.ok()) {
    ADIT_CHECK(IsValidUtf8(tokenizer.status().message()));
    return;
  }
  CheckText(**tokenizer, text);
}

}  // namespace
}  // namespace adit::tokenizer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  adit::tokenizer::Fuzz(std::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
