#ifndef ADIT_TOKENIZER_TEST_VOCABULARY_H_
#define ADIT_TOKENIZER_TEST_VOCABULARY_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/gguf_metadata.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/tokenizer.h"

// Small vocabularies as the metadata of a GGUF file, built in code. For tests and fuzzing.
namespace adit::tokenizer {

using MetadataValues = std::map<std::string, formats::GgufValue, std::less<>>;

inline formats::GgufValue TextValue(std::string text) { return {formats::GgufType::kString, {}, std::move(text)}; }
inline formats::GgufValue IdValue(uint64_t id) { return {formats::GgufType::kU32, {}, id}; }
inline formats::GgufValue FlagValue(bool flag) { return {formats::GgufType::kBool, {}, flag}; }
inline formats::GgufValue TextsValue(std::vector<std::string> texts) {
  return {formats::GgufType::kArray, formats::GgufType::kString, std::move(texts)};
}
inline formats::GgufValue IntsValue(std::vector<int64_t> ints) {
  return {formats::GgufType::kArray, formats::GgufType::kI32, std::move(ints)};
}
inline formats::GgufValue FloatsValue(std::vector<double> floats) {
  return {formats::GgufType::kArray, formats::GgufType::kF32, std::move(floats)};
}

// Entries of a vocabulary under construction; ids are positions.
struct VocabularyDraft {
  std::vector<std::string> tokens;
  std::vector<int64_t> types;
  std::vector<double> scores;
  std::vector<std::string> merges;

  int32_t Add(std::string token, TokenType type = TokenType::kNormal, double score = 0) {
    tokens.push_back(std::move(token));
    types.push_back(static_cast<int64_t>(type));
    scores.push_back(score);
    return static_cast<int32_t>(tokens.size()) - 1;
  }

  // A merge, and what it makes if that is new.
  void AddMerge(const std::string& left, const std::string& right) {
    merges.push_back(left + " " + right);
    for (const std::string& token : tokens) {
      if (token == left + right) return;
    }
    Add(left + right);
  }

  MetadataValues BpeValues(std::string pre) const {
    return {{"tokenizer.ggml.model", TextValue("gpt2")},
            {"tokenizer.ggml.pre", TextValue(std::move(pre))},
            {"tokenizer.ggml.tokens", TextsValue(tokens)},
            {"tokenizer.ggml.token_type", IntsValue(types)},
            {"tokenizer.ggml.merges", TextsValue(merges)}};
  }

  MetadataValues SpmValues() const {
    return {{"tokenizer.ggml.model", TextValue("llama")},
            {"tokenizer.ggml.tokens", TextsValue(tokens)},
            {"tokenizer.ggml.token_type", IntsValue(types)},
            {"tokenizer.ggml.scores", FloatsValue(scores)}};
  }
};

inline formats::GgufMetadata ToMetadata(MetadataValues values) { return {"test.gguf", std::move(values)}; }

// The 256 bytes (token i is byte i), a few merges and special tokens. "\xC4\xA0" is the character for a space.
inline VocabularyDraft SmallBpe() {
  VocabularyDraft draft;
  for (int byte = 0; byte < 256; ++byte) draft.Add(ByteCharacter(static_cast<uint8_t>(byte)));
  const std::pair<const char*, const char*> merges[] = {{"h", "e"},
                                                        {"l", "l"},
                                                        {"he", "ll"},
                                                        {"hell", "o"},
                                                        {"\xC4\xA0", "t"},
                                                        {"\xC4\xA0t", "he"},
                                                        {"w", "o"},
                                                        {"wo", "r"},
                                                        {"l", "d"},
                                                        {"wor", "ld"},
                                                        {"a", "a"},
                                                        {"aa", "aa"},
                                                        {"a", "b"},
                                                        {"ab", "ab"},
                                                        {"b", "a"},
                                                        {"\xC4\xA0", "\xC4\xA0"},
                                                        {"_", "_"},
                                                        {"__", "__"},
                                                        {"1", "2"},
                                                        {"\xC3\xB0", "\xC5\x81"},  // the first bytes of an emoji
                                                        {"\xC3\xA2", "\xC4\xA4"},
                                                        {"<", "|"},
                                                        {"|", ">"},
                                                        {"\xC4\xA0", "world"}};
  for (const auto& [left, right] : merges) draft.AddMerge(left, right);
  draft.Add("<|bos|>", TokenType::kControl);
  draft.Add("<|eos|>", TokenType::kControl);
  draft.Add("<|im_start|>", TokenType::kControl);
  draft.Add("<|im_end|>", TokenType::kControl);
  draft.Add("<tool>", TokenType::kUserDefined);
  draft.Add("<tool>\n", TokenType::kUserDefined);
  draft.Add("[PAD0]", TokenType::kUnused);
  return draft;
}

// <unk>, <s>, </s>, the 256 byte tokens, a few pieces (the first scored highest) and special tokens.
inline VocabularyDraft SmallSpm() {
  VocabularyDraft draft;
  draft.Add("<unk>", TokenType::kUnknown);
  draft.Add("<s>", TokenType::kControl);
  draft.Add("</s>", TokenType::kControl);
  for (int byte = 0; byte < 256; ++byte) {
    constexpr std::string_view kHex = "0123456789ABCDEF";
    const auto high = static_cast<size_t>(byte) / 16;
    const auto low = static_cast<size_t>(byte) % 16;
    draft.Add(std::string("<0x") + kHex[high] + kHex[low] + ">", TokenType::kByte);
  }
  const char* const pieces[] = {"\xE2\x96\x81t",
                                "he",
                                "ll",
                                "\xE2\x96\x81the",
                                "hell",
                                "hello",
                                "\xE2\x96\x81hello",
                                "\xE2\x96\x81\xE2\x96\x81",
                                "wor",
                                "wo",
                                "ld",
                                "world",
                                "\xE2\x96\x81wor",
                                "\xE2\x96\x81world",
                                "aa",
                                "aaaa",
                                "ab",
                                "\xE2\x96\x81",
                                "a",
                                "b",
                                "d",
                                "e",
                                "h",
                                "l",
                                "o",
                                "r",
                                "t",
                                "w",
                                "\n",
                                "<",
                                ">",
                                "s",
                                "/",
                                "\xC3\xA9"};
  double score = 0;
  for (const char* piece : pieces) draft.Add(piece, TokenType::kNormal, score -= 1);
  draft.Add("<turn>", TokenType::kControl);
  draft.Add("<end_of_turn>", TokenType::kControl);
  draft.Add("<b>", TokenType::kUserDefined);
  return draft;
}

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_TEST_VOCABULARY_H_
