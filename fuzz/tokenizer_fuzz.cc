// Tokenizers on arbitrary text, and their metadata with arbitrary changes. The first byte chooses.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/utf8.h"
#include "tokenizer/detokenizer.h"
#include "tokenizer/test_vocabulary.h"
#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {
namespace {

constexpr std::array kPreTokenizers = {"gpt-2", "smollm", "default", "llama-bpe", "qwen2", "qwen35"};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const auto byte = static_cast<uint8_t>(bytes_[0]);
    bytes_.remove_prefix(1);
    return byte;
  }
  size_t Below(size_t limit) { return limit == 0 ? 0 : (size_t{Byte()} << 8 | Byte()) % limit; }
  std::string_view Take(size_t length) {
    const std::string_view taken = bytes_.substr(0, length);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view Rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

std::unique_ptr<Tokenizer> MustLoad(MetadataValues values) {
  auto tokenizer = Tokenizer::FromGguf(ToMetadata(std::move(values)));
  ADIT_CHECK(tokenizer.ok());
  return std::move(*tokenizer);
}

bool IsSpecial(const Tokenizer& tokenizer, int32_t id) {
  const TokenType type = tokenizer.Type(id);
  return type == TokenType::kControl || type == TokenType::kUserDefined || type == TokenType::kUnknown;
}

std::string Decoded(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool with_special) {
  auto text = tokenizer.Decode(ids, with_special);
  ADIT_CHECK(text.ok());
  return std::move(*text);
}

void CheckIncremental(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool with_special) {
  IncrementalDetokenizer detokenizer(tokenizer, with_special);
  std::string joined;
  for (const int32_t id : ids) {
    const std::string piece = detokenizer.Append(id);
    ADIT_CHECK(IsValidUtf8(piece));
    joined += piece;
  }
  joined += detokenizer.Finish();
  ADIT_CHECK(joined == ReplaceInvalidUtf8(Decoded(tokenizer, ids, with_special)));
}

// `text` with U+2581 as SentencePiece shows it.
std::string MarksAsSpaces(std::string_view text) {
  constexpr std::string_view kMark = "\xE2\x96\x81";
  std::string out;
  for (size_t mark = text.find(kMark); mark != std::string_view::npos; mark = text.find(kMark)) {
    out.append(text.substr(0, mark)).append(1, ' ');
    text.remove_prefix(mark + kMark.size());
  }
  return out.append(text);
}

struct Kind {
  bool spm;
  bool space_prefix;
};

void CheckText(const Tokenizer& tokenizer, Kind kind, ByteReader reader) {
  const bool add_special = (reader.Byte() & 1) != 0;
  std::vector<TextSegment> segments;
  std::string text;
  bool any_trusted = false;
  while (!reader.empty()) {
    const uint8_t head = reader.Byte();
    segments.push_back({reader.Take(head >> 1), (head & 1) != 0});
    text += segments.back().text;
    any_trusted = any_trusted || segments.back().trusted;
  }
  const std::vector<int32_t> ids = tokenizer.Encode(segments, add_special);
  bool any_special = false;
  for (const int32_t id : ids) {
    ADIT_CHECK(id >= 0 && id < tokenizer.vocab_size());
    ADIT_CHECK(any_trusted || tokenizer.Type(id) != TokenType::kControl);
    any_special = any_special || IsSpecial(tokenizer, id);
  }
  CheckIncremental(tokenizer, ids, true);
  CheckIncremental(tokenizer, ids, false);
  if (!IsValidUtf8(text)) return;
  if (!kind.spm) ADIT_CHECK(Decoded(tokenizer, ids, true) == text);
  if (kind.spm && !(kind.space_prefix && any_special)) ADIT_CHECK(Decoded(tokenizer, ids, true) == MarksAsSpaces(text));
}

void FuzzText(ByteReader reader) {
  static const auto* const bpes = [] {
    auto* const made = new std::vector<std::unique_ptr<Tokenizer>>();
    for (const char* pre : kPreTokenizers) made->push_back(MustLoad(SmallBpe().BpeValues(pre)));
    return made;
  }();
  static const auto* const spms = [] {
    auto* const made = new std::vector<std::unique_ptr<Tokenizer>>();
    for (const bool space_prefix : {false, true}) {
      MetadataValues values = SmallSpm().SpmValues();
      values["tokenizer.ggml.add_space_prefix"] = FlagValue(space_prefix);
      made->push_back(MustLoad(values));
    }
    return made;
  }();
  const size_t choice = reader.Byte() % (bpes->size() + spms->size());
  if (choice < bpes->size()) return CheckText(*(*bpes)[choice], {.spm = false, .space_prefix = false}, reader);
  const size_t spm = choice - bpes->size();
  CheckText(*(*spms)[spm], {.spm = true, .space_prefix = spm == 1}, reader);
}

formats::GgufValue AnyValue(ByteReader& reader) {
  switch (reader.Byte() % 8) {
    case 0:
      return IdValue(reader.Below(600));
    case 1:
      return IdValue(~uint64_t{0} >> reader.Byte() % 64);
    case 2:
      return {formats::GgufType::kI32, {}, -static_cast<int64_t>(reader.Byte())};
    case 3:
      return FlagValue((reader.Byte() & 1) != 0);
    case 4:
      return TextValue(std::string(reader.Take(reader.Byte() % 16)));
    case 5:
      return TextsValue({std::string(reader.Take(reader.Byte() % 16))});
    case 6:
      return IntsValue({reader.Byte()});
    default:
      return FloatsValue({std::nan(""), -INFINITY, 1e38});
  }
}

// One change to the draft's arrays.
void ChangeDraft(ByteReader& reader, VocabularyDraft& draft) {
  const size_t i = reader.Below(draft.tokens.size());
  switch (reader.Byte() % 7) {
    case 0:
      draft.tokens[i] = std::string(reader.Take(reader.Byte() % 16));
      break;
    case 1:
      draft.types[i] = reader.Byte() % 8;
      break;
    case 2:
      draft.scores[i] = static_cast<int8_t>(reader.Byte());
      break;
    case 3:
      draft.Add(std::string(reader.Take(reader.Byte() % 16)), static_cast<TokenType>(1 + reader.Byte() % 6));
      break;
    case 4:
      draft.merges.push_back(std::string(reader.Take(reader.Byte() % 16)));
      break;
    case 5:
      draft.merges.push_back(draft.tokens[i] + " " + draft.tokens[reader.Below(draft.tokens.size())]);
      break;
    default:
      draft.AddMerge(draft.tokens[i], draft.tokens[reader.Below(draft.tokens.size())]);
      break;
  }
}

void FuzzMetadata(ByteReader reader) {
  constexpr std::array kKeys = {"model",         "pre",           "tokens",          "token_type",       "scores",
                                "merges",        "bos_token_id",  "eos_token_id",    "unknown_token_id", "eot_token_id",
                                "add_bos_token", "add_eos_token", "add_space_prefix"};
  const bool spm = (reader.Byte() & 1) != 0;
  VocabularyDraft draft = spm ? SmallSpm() : SmallBpe();
  for (size_t n = reader.Byte() % 8; n > 0; --n) ChangeDraft(reader, draft);
  MetadataValues values =
      spm ? draft.SpmValues() : draft.BpeValues(kPreTokenizers[reader.Byte() % kPreTokenizers.size()]);
  for (size_t n = reader.Byte() % 4; n > 0; --n) {
    const std::string key = std::string("tokenizer.ggml.") + kKeys[reader.Byte() % kKeys.size()];
    if (reader.Byte() % 4 == 0) {
      values.erase(key);
    } else {
      values[key] = AnyValue(reader);
    }
  }
  const auto tokenizer = Tokenizer::FromGguf(ToMetadata(std::move(values)));
  if (!tokenizer.ok()) {
    ADIT_CHECK(!tokenizer.status().message().empty() && IsValidUtf8(tokenizer.status().message()));
    return;
  }
  for (const bool trusted : {false, true}) {
    const std::vector<int32_t> ids = (*tokenizer)->Encode(reader.Rest(), trusted, trusted);
    CheckIncremental(**tokenizer, ids, trusted);
  }
  for (int32_t id = 0; id < (*tokenizer)->vocab_size(); ++id) CheckIncremental(**tokenizer, {id}, true);
}

}  // namespace
}  // namespace adit::tokenizer

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using adit::tokenizer::ByteReader;
  ByteReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
  if (reader.Byte() % 4 == 0) {
    adit::tokenizer::FuzzMetadata(reader);
  } else {
    adit::tokenizer::FuzzText(reader);
  }
  return 0;
}
