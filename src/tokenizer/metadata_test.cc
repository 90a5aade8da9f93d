// What a file may say about its tokenizer, and what is refused: every message names the key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "tokenizer/test_vocabulary.h"
#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

const std::string kPrefix = "tokenizer.ggml.";

Status LoadError(MetadataValues values) { return Tokenizer::FromGguf(ToMetadata(std::move(values))).status(); }

MetadataValues Bpe() { return SmallBpe().BpeValues("gpt-2"); }
MetadataValues Spm() { return SmallSpm().SpmValues(); }

MetadataValues With(MetadataValues values, const std::string& key, formats::GgufValue value) {
  values[kPrefix + key] = std::move(value);
  return values;
}

MetadataValues Without(MetadataValues values, const std::string& key) {
  values.erase(kPrefix + key);
  return values;
}

void ExpectRefused(const MetadataValues& values, StatusCode code, const std::string& key, const std::string& detail) {
  const Status status = LoadError(values);
  EXPECT_EQ(status.code(), code) << status.ToString();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("test.gguf"), HasSubstr(kPrefix + key), HasSubstr(detail)));
}

// A tokenizer that loads must also work.
void ExpectWorks(const MetadataValues& values) {
  auto tokenizer = Tokenizer::FromGguf(ToMetadata(values));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  for (const std::string text : {"hello world", "", "\n"}) {
    for (const bool special : {false, true}) {
      const auto decoded = (*tokenizer)->Decode((*tokenizer)->Encode(text, special, false), false);
      ASSERT_TRUE(decoded.ok());
      EXPECT_EQ(*decoded, text);
    }
  }
}

TEST(TokenizerMetadata, SmallVocabulariesWork) {
  ExpectWorks(Bpe());
  ExpectWorks(Spm());
}

TEST(TokenizerMetadata, UnknownModelsAndRulesAreRefusedByName) {
  ExpectRefused(With(Bpe(), "model", TextValue("rwkv")), StatusCode::kUnsupported, "model",
                "'rwkv', this build knows: bert, gpt2, llama, t5");
  ExpectRefused(With(Bpe(), "pre", TextValue("nobody")), StatusCode::kUnsupported, "pre",
                "'nobody', this build knows: ");
  ExpectRefused(With(Bpe(), "pre", TextValue("qwen2\xFF")), StatusCode::kUnsupported, "pre", "'qwen2\\xff'");
  ExpectRefused(Without(Bpe(), "pre"), StatusCode::kUnsupported, "pre", "missing");
  ExpectRefused(Without(Bpe(), "model"), StatusCode::kNotFound, "model", "missing");
  ExpectRefused(With(Bpe(), "model", IdValue(1)), StatusCode::kCorrupt, "model", "STRING");
}

TEST(TokenizerMetadata, ScoresOfAnotherTypeAreRefused) {
  const size_t n = SmallSpm().tokens.size();
  ExpectRefused(With(Spm(), "scores", {formats::GgufType::kArray, formats::GgufType::kU8, std::vector<uint64_t>(n)}),
                StatusCode::kCorrupt, "scores", "UINT8");
}

TEST(TokenizerMetadata, ScoresMustBeOneForEachToken) {
  ExpectRefused(With(Spm(), "scores", FloatsValue({1, 2, 3})), StatusCode::kCorrupt, "scores", "has 3 entries");
  ExpectRefused(Without(Spm(), "scores"), StatusCode::kNotFound, "scores", "missing");
}

TEST(TokenizerMetadata, ScoresMustBeNumbers) {
  std::vector<double> scores(SmallSpm().tokens.size());
  scores[5] = std::nan("");
  ExpectRefused(With(Spm(), "scores", FloatsValue(scores)), StatusCode::kCorrupt, "scores", "entry 5 is not a number");
  scores[5] = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(LoadError(With(Spm(), "scores", FloatsValue(scores))).ok());
}

TEST(TokenizerMetadata, TypesOfAnotherTypeAreRefused) {
  const size_t n = SmallSpm().tokens.size();
  ExpectRefused(
      With(Spm(), "token_type", {formats::GgufType::kArray, formats::GgufType::kI8, std::vector<int64_t>(n, 1)}),
      StatusCode::kCorrupt, "token_type", "INT8");
}

TEST(TokenizerMetadata, TypesMustBeKnownAndOneForEachToken) {
  std::vector<int64_t> types = SmallBpe().types;
  types[7] = 9;
  ExpectRefused(With(Bpe(), "token_type", IntsValue(types)), StatusCode::kCorrupt, "token_type", "entry 7 is 9");
  types[7] = 0;
  ExpectRefused(With(Bpe(), "token_type", IntsValue(types)), StatusCode::kCorrupt, "token_type", "entry 7 is 0");
  types[7] = 6;
  ExpectRefused(With(Bpe(), "token_type", IntsValue(types)), StatusCode::kCorrupt, "token_type", "wanted '<0xNN>'");
  ExpectRefused(With(Bpe(), "token_type", IntsValue({1})), StatusCode::kCorrupt, "token_type", "has 1 entries");
}

TEST(TokenizerMetadata, TypesMayBeMissingForByteLevelOnly) {
  ExpectWorks(Without(Bpe(), "token_type"));
  ExpectRefused(Without(Spm(), "token_type"), StatusCode::kNotFound, "token_type", "missing");
}

TEST(TokenizerMetadata, SpecialIdsMustLieInTheVocabulary) {
  const auto n = static_cast<uint64_t>(SmallBpe().tokens.size());
  for (const std::string key : {"bos_token_id", "eos_token_id", "unknown_token_id", "eot_token_id", "eom_token_id"}) {
    ExpectRefused(With(Bpe(), key, IdValue(4'294'967'295)), StatusCode::kCorrupt, key, "is 4294967295");
    ExpectRefused(With(Bpe(), key, IdValue(n)), StatusCode::kCorrupt, key, "wanted a token id from 0 to");
    ExpectRefused(With(Bpe(), key, {formats::GgufType::kI32, {}, int64_t{-1}}), StatusCode::kCorrupt, key, "is -1");
    ExpectRefused(With(Bpe(), key, TextValue("1")), StatusCode::kCorrupt, key, "integer");
    EXPECT_TRUE(LoadError(With(Bpe(), key, IdValue(n - 1))).ok());
  }
}

TEST(TokenizerMetadata, WhatIsAddedMustBeKnown) {
  for (const MetadataValues& values : {Bpe(), Spm()}) {
    ExpectRefused(With(values, "add_bos_token", FlagValue(true)), StatusCode::kCorrupt, "add_bos_token",
                  "bos_token_id");
    ExpectRefused(With(values, "add_eos_token", FlagValue(true)), StatusCode::kCorrupt, "add_eos_token",
                  "eos_token_id");
    ExpectRefused(With(values, "add_bos_token", IdValue(1)), StatusCode::kCorrupt, "add_bos_token", "BOOL");
  }
}

TEST(TokenizerMetadata, EveryTokenMustBeThereOnce) {
  VocabularyDraft draft = SmallBpe();
  draft.Add("hello");
  ExpectRefused(draft.BpeValues("gpt-2"), StatusCode::kCorrupt, "tokens", "are both 'hello'");
  VocabularyDraft spm = SmallSpm();
  spm.Add("<turn>");
  ExpectRefused(spm.SpmValues(), StatusCode::kCorrupt, "tokens", "are both '<turn>'");
}

TEST(TokenizerMetadata, EmptyTokensAreNeverMatched) {
  VocabularyDraft draft = SmallBpe();
  draft.Add("", TokenType::kControl);
  draft.Add("", TokenType::kUserDefined);
  draft.Add("");
  ExpectWorks(draft.BpeValues("gpt-2"));
}

TEST(TokenizerMetadata, TokensMayBeAnyBytes) {
  VocabularyDraft bpe = SmallBpe();
  bpe.Add("\xFF\xFE");
  ExpectWorks(bpe.BpeValues("gpt-2"));
  VocabularyDraft spm = SmallSpm();
  spm.Add("\xFF\xFE");
  spm.Add("\xE2", TokenType::kUserDefined);
  ExpectWorks(spm.SpmValues());
}

TEST(TokenizerMetadata, TokensMustBeStringsAndNotNone) {
  ExpectRefused(With(Bpe(), "tokens", TextsValue({})), StatusCode::kCorrupt, "tokens", "has 0 entries");
  ExpectRefused(With(Bpe(), "tokens", IntsValue({1})), StatusCode::kCorrupt, "tokens", "STRING");
  ExpectRefused(Without(Bpe(), "tokens"), StatusCode::kNotFound, "tokens", "missing");
}

TEST(TokenizerMetadata, HugeTokensAreRefused) {
  VocabularyDraft draft = SmallBpe();
  draft.Add(std::string(65'536, 'x'));
  ExpectRefused(draft.BpeValues("gpt-2"), StatusCode::kCorrupt, "tokens", "has 65536 bytes");
}

TEST(TokenizerMetadata, MergesMustBeTwoTokensThatMakeOne) {
  const auto with_merge = [](const std::string& merge) {
    VocabularyDraft draft = SmallBpe();
    draft.merges.push_back(merge);
    return draft.BpeValues("gpt-2");
  };
  for (const std::string merge : {"hello", "", "he ", " ", "a"}) {
    ExpectRefused(with_merge(merge), StatusCode::kCorrupt, "merges", "wanted two tokens with a space between");
  }
  ExpectRefused(with_merge("xyz a"), StatusCode::kCorrupt, "merges", "'xyz' is not a token");
  ExpectRefused(with_merge("a xyz"), StatusCode::kCorrupt, "merges", "'xyz' is not a token");
  ExpectRefused(with_merge("hello hello"), StatusCode::kCorrupt, "merges", "'hellohello' is not a token");
  ExpectRefused(with_merge("a b c"), StatusCode::kCorrupt, "merges", "is not a token");
  ExpectRefused(Without(Bpe(), "merges"), StatusCode::kNotFound, "merges", "missing");
  ExpectRefused(With(Bpe(), "merges", IdValue(3)), StatusCode::kCorrupt, "merges", "STRING");
  ExpectWorks(with_merge("h e"));
  ExpectWorks(With(Bpe(), "merges", TextsValue({})));
}

TEST(TokenizerMetadata, SpacePrefixMustBeAFlag) {
  ExpectRefused(With(Spm(), "add_space_prefix", IdValue(1)), StatusCode::kCorrupt, "add_space_prefix", "BOOL");
}

}  // namespace
}  // namespace adit::tokenizer
