#include "tokenizer/sentencepiece_bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tokenizer/lenient_utf8.h"
#include "tokenizer/naive_bpe.h"
#include "tokenizer/test_models.h"
#include "tokenizer/test_vocabulary.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<Tokenizer> MakeSmall(bool add_space_prefix) {
  MetadataValues values = SmallSpm().SpmValues();
  values["tokenizer.ggml.add_space_prefix"] = FlagValue(add_space_prefix);
  return MakeTokenizer(values);
}

TEST(SentencePieceBpe, MergesTheHighestScoreFirst) {
  const auto tokenizer = MakeSmall(false);
  EXPECT_THAT(Pieces(*tokenizer, "hello the world"), ElementsAre("hello", "▁the", "▁world"));
  EXPECT_THAT(Pieces(*tokenizer, "aaaaab"), ElementsAre("aaaa", "ab"));
  EXPECT_THAT(Pieces(*tokenizer, ""), IsEmpty());
  EXPECT_EQ(tokenizer->Description(), "llama");
}

TEST(SentencePieceBpe, SpacePrefixStandsBeforeEveryRunOfText) {
  const auto tokenizer = MakeSmall(true);
  EXPECT_THAT(Pieces(*tokenizer, "hello"), ElementsAre("▁hello"));
  EXPECT_THAT(Pieces(*tokenizer, " hello"), ElementsAre("▁", "▁hello"));
  EXPECT_THAT(Pieces(*tokenizer, "hello<turn>hello", true), ElementsAre("▁hello", "<turn>", "▁hello"));
  EXPECT_THAT(Pieces(*tokenizer, "<turn><turn>", true), ElementsAre("<turn>", "<turn>"));
  EXPECT_THAT(Pieces(*tokenizer, ""), IsEmpty());
}

TEST(SentencePieceBpe, SpacePrefixIsOnUnlessTheFileSaysNo) {
  EXPECT_THAT(Pieces(*MakeTokenizer(SmallSpm().SpmValues()), "hello"), ElementsAre("▁hello"));
  EXPECT_THAT(Pieces(*MakeSmall(false), "hello<turn>hello", true), ElementsAre("hello", "<turn>", "hello"));
}

TEST(SentencePieceBpe, DecodeTakesTheSpacePrefixOff) {
  const auto tokenizer = MakeSmall(true);
  EXPECT_EQ(DecodeAll(*tokenizer, tokenizer->Encode("hello", false, false)), "hello");
  EXPECT_EQ(DecodeAll(*tokenizer, tokenizer->Encode("  hello", false, false)), "  hello");
  const auto ids = tokenizer->Encode("<turn>hello", true, false);
  EXPECT_EQ(DecodeAll(*tokenizer, ids, /*with_special=*/false), "hello") << "the first text that shows";
  EXPECT_EQ(DecodeAll(*tokenizer, ids, /*with_special=*/true), "<turn> hello") << "only the first word loses its space";
  EXPECT_EQ(DecodeAll(*MakeSmall(false), MakeSmall(false)->Encode(" hello", false, false)), " hello");
}

TEST(SentencePieceBpe, DecodeLeavesTheSpaceOfASpecialTokenAlone) {
  VocabularyDraft draft = SmallSpm();
  draft.Add("  ", TokenType::kUserDefined);
  const auto tokenizer = MakeTokenizer(draft.SpmValues());
  EXPECT_EQ(DecodeAll(*tokenizer, tokenizer->Encode("  <b>", false, false)), "  <b>");
}

TEST(SentencePieceBpe, CharactersWithoutAPieceAreSpelledInBytes) {
  const auto tokenizer = MakeSmall(false);
  EXPECT_THAT(Pieces(*tokenizer, "h你"), ElementsAre("h", "<0xE4>", "<0xBD>", "<0xA0>"));
  EXPECT_THAT(Pieces(*tokenizer, "\n\t"), ElementsAre("\n", "<0x09>"));
  EXPECT_EQ(DecodeAll(*tokenizer, tokenizer->Encode("h你\n\t", false, false)), "h你\n\t");
}

TEST(SentencePieceBpe, InvalidBytesAreKept) {
  const auto tokenizer = MakeSmall(false);
  for (const std::string text : {"\xFF", "a\x80z", "\xC3(", "\xF4\x90\x80\x80", "\xED\xA0\x80", "\xE4\xBD"}) {
    EXPECT_EQ(DecodeAll(*tokenizer, tokenizer->Encode(text, false, false)), text);
  }
}

TEST(SentencePieceBpe, TextNeverBecomesAControlByteOrUnknownToken) {
  VocabularyDraft draft = SmallSpm();
  draft.Add("</", TokenType::kNormal, -1);
  draft.Add("</s", TokenType::kNormal, -1);
  draft.Add("<0", TokenType::kNormal, -1);
  draft.Add("<0x", TokenType::kNormal, -1);
  draft.Add("<0x4", TokenType::kNormal, -1);
  draft.Add("<0x41", TokenType::kNormal, -1);
  draft.Add("s>", TokenType::kNormal, -99);
  draft.Add("1>", TokenType::kNormal, -99);
  const auto tokenizer = MakeTokenizer(draft.SpmValues());
  EXPECT_THAT(Pieces(*tokenizer, "</s>"), ElementsAre("▁", "</s", ">"));
  EXPECT_THAT(Pieces(*tokenizer, "<0x41>"), ElementsAre("▁", "<0x41", ">"));
  EXPECT_THAT(Pieces(*tokenizer, "<0x41>", true), ElementsAre("▁", "<0x41", ">"))
      << "byte tokens are no special tokens";
}

TEST(SentencePieceBpe, WithoutByteTokensUnknownStandsForTheRest) {
  VocabularyDraft draft;
  draft.Add("<unk>", TokenType::kUnknown);
  draft.Add("a", TokenType::kNormal, -1);
  draft.Add("\xE4", TokenType::kNormal, -2);
  MetadataValues values = draft.SpmValues();
  values["tokenizer.ggml.add_space_prefix"] = FlagValue(false);
  EXPECT_THAT(MakeTokenizer(values)->Encode("a你", false, false), ElementsAre(1, 2))
      << "a byte that is a piece counts as such";
  values["tokenizer.ggml.unknown_token_id"] = IdValue(0);
  EXPECT_THAT(MakeTokenizer(values)->Encode("a你", false, false), ElementsAre(1, 2, 0, 0));
}

TEST(SentencePieceBpe, AddsBosUnlessToldOtherwise) {
  MetadataValues values = SmallSpm().SpmValues();
  EXPECT_THAT(MakeTokenizer(values)->Encode("", false, true), IsEmpty()) << "no BOS is known";
  values["tokenizer.ggml.bos_token_id"] = IdValue(1);
  EXPECT_THAT(MakeTokenizer(values)->Encode("", false, true), ElementsAre(1));
  EXPECT_TRUE(MakeTokenizer(values)->adds_bos());
  values["tokenizer.ggml.add_bos_token"] = FlagValue(false);
  EXPECT_THAT(MakeTokenizer(values)->Encode("", false, true), IsEmpty());
}

std::vector<std::string> Characters(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const std::string_view c = text.substr(0, CharLength(text[0]));
    characters.emplace_back(c);
    text.remove_prefix(c.size());
  }
  return characters;
}

// Random pieces, many of equal score, and no cut of the text into words in the definition.
TEST(SentencePieceBpe, EqualsTheDefinitionOnRandomVocabularies) {
  constexpr uint32_t kSeed = 41;
  std::mt19937 rng(kSeed);
  const std::vector<std::string> atoms = {"a", "b", "▁", "é", "你", "\xE4"};
  const auto random_text = [&](size_t max_atoms) {
    std::string text;
    for (size_t i = rng() % (max_atoms + 1); i > 0; --i) text += atoms[rng() % atoms.size()];
    return text;
  };
  for (int round = 0; round < 300; ++round) {
    VocabularyDraft draft;
    draft.Add("<unk>", TokenType::kUnknown);
    for (int i = 0; i < 60; ++i) {
      const std::string piece = random_text(5);
      const bool known = std::find(draft.tokens.begin(), draft.tokens.end(), piece) != draft.tokens.end();
      if (!piece.empty() && !known) draft.Add(piece, TokenType::kNormal, -static_cast<double>(rng() % 12));
    }
    MetadataValues values = draft.SpmValues();
    values["tokenizer.ggml.add_space_prefix"] = FlagValue(false);
    const auto tokenizer = MakeTokenizer(values);
    const MergeOrder order = [&](const std::string& left, const std::string& right) -> std::optional<double> {
      const auto found = std::find(draft.tokens.begin() + 1, draft.tokens.end(), left + right);
      if (found == draft.tokens.end()) return std::nullopt;
      return -draft.scores[static_cast<size_t>(found - draft.tokens.begin())];
    };
    const std::string text = random_text(200);
    std::vector<std::string> expected;
    for (const std::string& symbol : NaiveMerge(Characters(text), order)) {
      const bool is_piece = std::find(draft.tokens.begin() + 1, draft.tokens.end(), symbol) != draft.tokens.end();
      if (is_piece) expected.push_back(symbol);
      for (size_t i = 0; !is_piece && i < symbol.size(); ++i) {
        const std::string byte = symbol.substr(i, 1);
        if (std::find(draft.tokens.begin(), draft.tokens.end(), byte) != draft.tokens.end()) expected.push_back(byte);
      }
    }
    ASSERT_EQ(Pieces(*tokenizer, text), expected) << "seed " << kSeed << " round " << round;
  }
}

// A quadratic algorithm needs minutes for these.
TEST(SentencePieceBpe, VeryLongWordsTakeLinearTime) {
  constexpr size_t kNum = 100'000;
  std::mt19937 rng(1);
  std::string letters;
  for (size_t i = 0; i < kNum; ++i) letters += static_cast<char>('a' + rng() % 26);
  std::string pairs;
  for (size_t i = 0; i < kNum / 2; ++i) pairs += "ab";
  std::string emoji;
  for (size_t i = 0; i < kNum / 4; ++i) emoji += "🙂";
  const auto tokenizer = MakeSmall(false);
  for (const std::string& text :
       {std::string(kNum, 'a'), pairs, letters, std::string(kNum, ' '), std::string(kNum, '\n'), emoji}) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<int32_t> ids = tokenizer->Encode(text, true, false);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    EXPECT_LT(elapsed.count(), 5.0) << text.substr(0, 20);
    EXPECT_EQ(DecodeAll(*tokenizer, ids), text) << text.substr(0, 20);
  }
}

TEST(SentencePieceBpe, EncodingAgainWhatWasDecodedChangesNothing) {
  constexpr uint32_t kSeed = 43;
  std::mt19937 rng(kSeed);
  const std::vector<std::string> atoms = {"hello", " ", "<turn>", "<b>", "\n", "é", "🙂", "world", "  "};
  for (const bool add_space_prefix : {false, true}) {
    const auto tokenizer = MakeSmall(add_space_prefix);
    int num_round_trips = 0;
    for (int round = 0; round < 400; ++round) {
      std::string text;
      for (size_t i = rng() % 10; i > 0; --i) text += atoms[rng() % atoms.size()];
      const std::vector<int32_t> ids = tokenizer->Encode(text, true, false);
      if (DecodeAll(*tokenizer, ids) != text) continue;
      ++num_round_trips;
      ASSERT_EQ(tokenizer->Encode(DecodeAll(*tokenizer, ids), true, false), ids) << "seed " << kSeed << ": " << text;
    }
    EXPECT_GE(num_round_trips, add_space_prefix ? 100 : 400);
  }
}

}  // namespace
}  // namespace adit::tokenizer
