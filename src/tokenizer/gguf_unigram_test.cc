#include "tokenizer/gguf_unigram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tokenizer/detokenizer.h"
#include "tokenizer/test_vocabulary.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A charsmap with one rule, "A" to "a": the trie's root at unit 0, its child at 'A', the value behind it.
std::vector<int64_t> SmallCharsmap() {
  std::vector<uint32_t> units(256, 0);
  units[0] = 0;
  units['A'] = 'A' | 1U << 8 | (128U << 10);  // has a value, 128 further by exclusive or
  units['A' ^ 128] = 0x8000'0000U;
  std::vector<int64_t> bytes;
  const auto add_word = [&](uint32_t word) {
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<int8_t>(word >> 8 * i & 0xFF));
  };
  add_word(static_cast<uint32_t>(units.size() * 4));
  for (const uint32_t unit : units) add_word(unit);
  bytes.push_back('a');
  bytes.push_back(0);
  return bytes;
}

MetadataValues Values() {
  VocabularyDraft draft;
  draft.Add("<pad>", TokenType::kControl, 0);
  draft.Add("</s>", TokenType::kControl, 0);
  draft.Add("<unk>", TokenType::kUnknown, 0);
  draft.Add("\xE2\x96\x81", TokenType::kNormal, -2);
  draft.Add(
      "\xE2\x96\x81"
      "a",
      TokenType::kNormal, -2);
  draft.Add("a", TokenType::kNormal, -3);
  draft.Add("b", TokenType::kNormal, -3);
  draft.Add("ab", TokenType::kNormal, -4);
  draft.Add("<x>", TokenType::kUserDefined, -50);
  MetadataValues values = draft.SpmValues();
  values["tokenizer.ggml.model"] = TextValue("t5");
  values["tokenizer.ggml.add_space_prefix"] = FlagValue(true);
  values["tokenizer.ggml.eos_token_id"] = IdValue(1);
  values["tokenizer.ggml.unknown_token_id"] = IdValue(2);
  return values;
}

std::unique_ptr<Tokenizer> MakeUnigram(MetadataValues values) {
  auto tokenizer = Tokenizer::FromGguf(ToMetadata(std::move(values)));
  EXPECT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  return std::move(*tokenizer);
}

TEST(GgufUnigram, TextIsOneWordWithMarks) {
  const auto tokenizer = MakeUnigram(Values());
  EXPECT_THAT(tokenizer->Encode("ab a", false, false), ElementsAre(4, 6, 4));
  EXPECT_THAT(tokenizer->Encode("a", false, true), ElementsAre(4, 1));
  EXPECT_THAT(tokenizer->Encode("zz a", false, false), ElementsAre(3, 2, 4));
  EXPECT_THAT(tokenizer->Encode("a<x>a</s>", true, false), ElementsAre(4, 8, 4, 1));
  EXPECT_THAT(tokenizer->Encode("", true, false), ElementsAre());
  EXPECT_EQ(*tokenizer->Decode(tokenizer->Encode("ab a", false, false), true), "ab a");
}

TEST(GgufUnigram, SpacesFollowTheMetadata) {
  MetadataValues values = Values();
  values.erase("tokenizer.ggml.add_space_prefix");
  EXPECT_THAT(MakeUnigram(values)->Encode("a  a", false, false), ElementsAre(5, 3, 4));
  values["tokenizer.ggml.remove_extra_whitespaces"] = FlagValue(true);
  EXPECT_THAT(MakeUnigram(values)->Encode("  a  a ", false, false), ElementsAre(4, 4));
  values["tokenizer.ggml.add_space_prefix"] = FlagValue(true);
  values["tokenizer.ggml.treat_whitespace_as_suffix"] = FlagValue(true);
  values["tokenizer.ggml.remove_extra_whitespaces"] = FlagValue(false);
  EXPECT_THAT(MakeUnigram(values)->Encode("a", false, false), ElementsAre(5, 3));
}

TEST(GgufUnigram, RulesOfNormalizationAreApplied) {
  MetadataValues values = Values();
  values["tokenizer.ggml.precompiled_charsmap"] = {formats::GgufType::kArray, formats::GgufType::kI8, SmallCharsmap()};
  EXPECT_THAT(MakeUnigram(values)->Encode("Ab", false, false), ElementsAre(4, 6));
  values["tokenizer.ggml.precompiled_charsmap"] = IntsValue({1, 2, 3});
  EXPECT_THAT(Tokenizer::FromGguf(ToMetadata(values)).status().message(),
              HasSubstr("is not an array of INT8 or UINT8"));
  values["tokenizer.ggml.precompiled_charsmap"] = {formats::GgufType::kArray, formats::GgufType::kI8,
                                                   std::vector<int64_t>{8, 0, 0, 0, 1}};
  EXPECT_THAT(Tokenizer::FromGguf(ToMetadata(values)).status().message(), HasSubstr("a trie of 8 bytes"));
}

TEST(GgufUnigram, PlainTextNeverBecomesAControlToken) {
  const auto tokenizer = MakeUnigram(Values());
  for (const int32_t id : tokenizer->Encode("</s><pad>", false, false))
    EXPECT_NE(tokenizer->Type(id), TokenType::kControl);
}

}  // namespace
}  // namespace adit::tokenizer
