#include "tokenizer/special_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tokenizer/test_vocabulary.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

SpecialTokens Load(const VocabularyDraft& draft, MetadataValues extra, bool default_add_bos = false) {
  extra.merge(draft.BpeValues("gpt-2"));
  const formats::GgufMetadata metadata = ToMetadata(std::move(extra));
  auto vocabulary = LoadVocabulary(metadata);
  EXPECT_TRUE(vocabulary.ok()) << vocabulary.status().ToString();
  auto tokens = LoadSpecialTokens(metadata, *vocabulary, {.add_bos = default_add_bos});
  EXPECT_TRUE(tokens.ok()) << tokens.status().ToString();
  return *tokens;
}

VocabularyDraft Controls(const std::vector<std::string>& texts) {
  VocabularyDraft draft;
  for (const std::string& text : texts) draft.Add(text, TokenType::kControl);
  return draft;
}

TEST(SpecialTokens, RolesComeFromTheKeys) {
  const SpecialTokens tokens = Load(Controls({"a", "b", "c"}), {{"tokenizer.ggml.bos_token_id", IdValue(0)},
                                                                {"tokenizer.ggml.eos_token_id", IdValue(1)},
                                                                {"tokenizer.ggml.unknown_token_id", IdValue(2)}});
  EXPECT_EQ(tokens.bos, 0);
  EXPECT_EQ(tokens.eos, 1);
  EXPECT_EQ(tokens.unknown, 2);
  EXPECT_THAT(tokens.end_of_generation, ElementsAre(1));
}

TEST(SpecialTokens, AbsentKeysMeanNone) {
  const SpecialTokens tokens = Load(Controls({"a"}), {}, /*default_add_bos=*/true);
  EXPECT_FALSE(tokens.bos);
  EXPECT_FALSE(tokens.eos);
  EXPECT_FALSE(tokens.unknown);
  EXPECT_FALSE(tokens.add_bos());
  EXPECT_FALSE(tokens.add_eos());
  EXPECT_THAT(tokens.end_of_generation, IsEmpty());
}

TEST(SpecialTokens, BosIsAddedByDefaultWhereTheFamilyDoes) {
  const MetadataValues with_bos = {{"tokenizer.ggml.bos_token_id", IdValue(0)}};
  EXPECT_TRUE(Load(Controls({"a"}), with_bos, true).add_bos());
  EXPECT_FALSE(Load(Controls({"a"}), with_bos, false).add_bos());
}

TEST(SpecialTokens, GenerationEndsAtKeysAndAtKnownControlTokens) {
  VocabularyDraft draft = Controls({"x", "<|im_end|>", "<|endoftext|>", "y", "z", "<|im_start|>", "<|eot_id|>"});
  draft.Add("<end_of_turn>", TokenType::kNormal);
  draft.Add("</s>", TokenType::kUserDefined);
  const SpecialTokens tokens =
      Load(draft, {{"tokenizer.ggml.eos_token_id", IdValue(3)}, {"tokenizer.ggml.eom_token_id", IdValue(0)}});
  EXPECT_THAT(tokens.end_of_generation, ElementsAre(0, 1, 2, 3, 6)) << "texts that are no control tokens do not count";
}

TEST(SpecialTokens, EndOfAMessageIsNoEndWhereAFormatHasSeveral) {
  EXPECT_THAT(Load(Controls({"<|end|>", "<|return|>"}), {}).end_of_generation, ElementsAre(0, 1));
  EXPECT_THAT(Load(Controls({"<|end|>", "<|return|>", "<|call|>"}), {}).end_of_generation, ElementsAre(1, 2));
  EXPECT_THAT(Load(Controls({"<|end|>", "<|flush|>", "<|calls|>"}), {}).end_of_generation, ElementsAre(1, 2));
  EXPECT_THAT(Load(Controls({"</s>", "<|tool_response>"}), {}).end_of_generation, ElementsAre(1));
  EXPECT_THAT(Load(Controls({"</s>"}), {}).end_of_generation, ElementsAre(0));
  const std::string deepseek = "<\uFF5Cend\u2581of\u2581sentence\uFF5C>";
  EXPECT_THAT(Load(Controls({deepseek}), {}).end_of_generation, ElementsAre(0));
}

TEST(ByteOfPiece, ReadsTwoHexDigits) {
  EXPECT_EQ(ByteOfPiece("<0x00>"), 0x00);
  EXPECT_EQ(ByteOfPiece("<0xFf>"), 0xFF);
  for (const char* piece : {"", "<0x0>", "<0x000>", "<0xG0>", "<0x0G>", "<0x+1>", "<0x 1>", "(0x00>", "<0x00)"}) {
    EXPECT_FALSE(ByteOfPiece(piece)) << piece;
  }
}

}  // namespace
}  // namespace adit::tokenizer
