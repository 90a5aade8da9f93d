// What control and user-defined tokens do to the text around them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tokenizer/test_models.h"
#include "tokenizer/test_vocabulary.h"
#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Pieces(const Tokenizer& tokenizer, const std::vector<TextSegment>& segments) {
  std::vector<std::string> pieces;
  for (const int32_t id : tokenizer.Encode(segments, false)) pieces.emplace_back(tokenizer.Piece(id));
  return pieces;
}

TEST(Segments, ControlTokensCountOnlyInTrustedText) {
  const auto tokenizer = MakeBpe();
  EXPECT_THAT(Pieces(*tokenizer, {{"<|im_end|>hello", true}}), ElementsAre("<|im_end|>", "hello"));
  const auto plain = Pieces(*tokenizer, {{"<|im_end|>hello", false}});
  EXPECT_THAT(plain, testing::Not(testing::Contains("<|im_end|>")));
}

TEST(Segments, ControlTokensMustNotReachIntoUntrustedText) {
  const auto tokenizer = MakeBpe();
  const auto no_control = testing::Not(testing::Contains("<|im_end|>"));
  EXPECT_THAT(Pieces(*tokenizer, {{"<|im_", true}, {"end|>", false}}), no_control);
  EXPECT_THAT(Pieces(*tokenizer, {{"<|im_", false}, {"end|>", true}}), no_control);
  EXPECT_THAT(Pieces(*tokenizer, {{"<|im", true}, {"_", false}, {"end|>", true}}), no_control);
}

TEST(Segments, NeighbouringTrustedSegmentsAreOne) {
  const auto tokenizer = MakeBpe();
  EXPECT_THAT(Pieces(*tokenizer, {{"<|im_", true}, {"", false}, {"end|>", true}}), ElementsAre("<|im_end|>"));
}

TEST(Segments, UserDefinedTokensCountEverywhereAndTheLongestWins) {
  const auto tokenizer = MakeBpe();
  EXPECT_THAT(Pieces(*tokenizer, {{"hello<tool>hello", false}}), ElementsAre("hello", "<tool>", "hello"));
  EXPECT_THAT(Pieces(*tokenizer, {{"<to", true}, {"ol>\n", false}}), ElementsAre("<tool>\n"));
}

TEST(Segments, TextIsMergedAcrossBorders) {
  const auto tokenizer = MakeBpe();
  EXPECT_THAT(Pieces(*tokenizer, {{"hel", true}, {"lo wor", false}, {"ld", true}}), ElementsAre("hello", "Ġworld"));
}

TEST(Segments, UnusedTokensAreNotLookedFor) {
  EXPECT_THAT(Pieces(*MakeBpe(), {{"[PAD0]", true}}), ElementsAre("[", "P", "A", "D", "0", "]"));
}

TEST(Segments, NothingGivesNothing) {
  const auto tokenizer = MakeBpe();
  EXPECT_THAT(tokenizer->Encode(std::vector<TextSegment>{}, true), IsEmpty());
  EXPECT_THAT(Pieces(*tokenizer, {{"", true}, {"", false}}), IsEmpty());
}

TEST(Segments, SpecialTokensAreAddedAsTheMetadataSays) {
  VocabularyDraft draft = SmallBpe();
  const auto bos = static_cast<int32_t>(draft.tokens.size());
  draft.Add("<s>", TokenType::kControl);
  draft.Add("</s>", TokenType::kControl);
  MetadataValues values = draft.BpeValues("gpt-2");
  values["tokenizer.ggml.bos_token_id"] = IdValue(static_cast<uint64_t>(bos));
  values["tokenizer.ggml.eos_token_id"] = IdValue(static_cast<uint64_t>(bos) + 1);
  values["tokenizer.ggml.add_bos_token"] = FlagValue(true);
  values["tokenizer.ggml.add_eos_token"] = FlagValue(true);
  const auto tokenizer = MakeTokenizer(values);
  EXPECT_THAT(tokenizer->Encode("", false, true), ElementsAre(bos, bos + 1));
  EXPECT_THAT(tokenizer->Encode("a", false, true), ElementsAre(bos, 'a', bos + 1));
  EXPECT_THAT(tokenizer->Encode("a", false, false), ElementsAre('a'));
}

// Borders between segments of one kind change nothing, and no untrusted text ever yields a control token.
TEST(Segments, RandomBordersAreInvisible) {
  constexpr uint32_t kSeed = 31;
  std::mt19937 rng(kSeed);
  const std::vector<std::string> atoms = {"hello",  " the", "<|im_end|>", "<|im_", "end|>",
                                          "<tool>", "<to",  "ol>",        "\n",    "é"};
  for (const auto& tokenizer : {MakeBpe(), MakeTokenizer(SmallSpm().SpmValues())}) {
    for (int round = 0; round < 2'000; ++round) {
      std::string text;
      for (size_t i = rng() % 8; i > 0; --i) text += atoms[rng() % atoms.size()];
      const bool trusted = rng() % 2 == 0;
      std::vector<TextSegment> segments;
      for (std::string_view rest = text; !rest.empty();) {
        const size_t length = 1 + rng() % rest.size();
        segments.push_back({rest.substr(0, length), trusted});
        rest.remove_prefix(length);
      }
      const std::vector<int32_t> ids = tokenizer->Encode(segments, false);
      ASSERT_EQ(ids, tokenizer->Encode(text, trusted, false)) << "seed " << kSeed << ": " << text;
      if (trusted) continue;
      for (const int32_t id : ids)
        ASSERT_NE(tokenizer->Type(id), TokenType::kControl) << "seed " << kSeed << ": " << text;
    }
  }
}

}  // namespace
}  // namespace adit::tokenizer
