#include "tokenizer/byte_level_bpe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tokenizer/naive_bpe.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/test_models.h"
#include "tokenizer/test_vocabulary.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<Tokenizer> MakeSmall(const std::string& pre = "gpt-2") {
  return MakeTokenizer(SmallBpe().BpeValues(pre));
}

TEST(ByteLevelBpe, MergesWithinWordsByRank) {
  const auto tokenizer = MakeSmall();
  EXPECT_THAT(Pieces(*tokenizer, "hello the world"), ElementsAre("hello", "Ġthe", "Ġworld"));
  EXPECT_THAT(Pieces(*tokenizer, "aaaaab"), ElementsAre("aaaa", "ab"));
  EXPECT_THAT(Pieces(*tokenizer, ""), IsEmpty());
  EXPECT_EQ(tokenizer->Description(), "gpt2 (gpt-2)");
}

TEST(ByteLevelBpe, WholeWordsComeBeforeMergesInTheLlama3Family) {
  VocabularyDraft draft = SmallBpe();
  const int32_t whole = draft.Add("Ġxyz");
  draft.Add("xyw", TokenType::kControl);
  EXPECT_THAT(MakeTokenizer(draft.BpeValues("llama-bpe"))->Encode(" xyz", false, false), ElementsAre(whole));
  EXPECT_THAT(Pieces(*MakeTokenizer(draft.BpeValues("smaug-bpe")), " xyz"), ElementsAre("Ġ", "x", "y", "z"));
  EXPECT_THAT(Pieces(*MakeTokenizer(draft.BpeValues("llama-bpe")), "xyw"), ElementsAre("x", "y", "w"))
      << "plain text must not become a control token";
}

TEST(ByteLevelBpe, AMergeNeverMakesAControlToken) {
  VocabularyDraft draft = SmallBpe();
  draft.Add("xyw", TokenType::kControl);
  draft.AddMerge("x", "y");
  draft.AddMerge("xy", "w");
  const auto tokenizer = MakeTokenizer(draft.BpeValues("gpt-2"));
  EXPECT_THAT(Pieces(*tokenizer, "xyw", /*parse_special=*/true), ElementsAre("xyw"));
  EXPECT_THAT(Pieces(*tokenizer, "xyw", /*parse_special=*/false), ElementsAre("xy", "w"));
}

TEST(ByteLevelBpe, BytesWithoutATokenAreLeftOut) {
  VocabularyDraft draft;
  draft.Add("a");
  draft.Add("<|bos|>", TokenType::kControl);
  MetadataValues values = draft.BpeValues("gpt-2");
  values["tokenizer.ggml.unknown_token_id"] = IdValue(1);
  EXPECT_THAT(MakeTokenizer(values)->Encode("a b", false, false), ElementsAre(0));
}

TEST(ByteLevelBpe, InvalidBytesBecomeReplacementCharacters) {
  const auto tokenizer = MakeSmall();
  EXPECT_EQ(DecodeAll(*tokenizer, tokenizer->Encode("a\xFF\xE4\xBD"
                                                    "b",
                                                    false, false)),
            "a\uFFFD\uFFFD\uFFFDb");
  EXPECT_EQ(tokenizer->Encode("\xF4\x90\x80\x80", false, false),
            tokenizer->Encode("\uFFFD\uFFFD\uFFFD\uFFFD", false, false));
}

TEST(ByteLevelBpe, DecodesByTypeOfToken) {
  VocabularyDraft draft = SmallBpe();
  const int32_t odd = draft.Add("\xFF\xFE");
  const int32_t byte = draft.Add("<0x41>", TokenType::kByte);
  const int32_t added = draft.Add("Ġ[x]", TokenType::kUserDefined);
  const auto tokenizer = MakeTokenizer(draft.BpeValues("gpt-2"));
  const int32_t bos = tokenizer->Encode("<|bos|>", true, false).at(0);
  EXPECT_EQ(tokenizer->TokenBytes(odd, false), "\xFF\xFE");
  EXPECT_EQ(tokenizer->TokenBytes(byte, false), "A");
  EXPECT_EQ(tokenizer->TokenBytes(added, false), "Ġ[x]");
  EXPECT_EQ(tokenizer->TokenBytes(bos, false), "");
  EXPECT_EQ(tokenizer->TokenBytes(bos, true), "<|bos|>");
  EXPECT_EQ(tokenizer->TokenBytes(0xFF, false), "\xFF");
}

TEST(ByteLevelBpe, DecodeRefusesIdsOutsideTheVocabulary) {
  const auto tokenizer = MakeSmall();
  for (const int32_t id : {-1, static_cast<int32_t>(tokenizer->vocab_size())}) {
    const std::vector<int32_t> ids = {0, id};
    EXPECT_EQ(tokenizer->Decode(ids, true).status().code(), StatusCode::kInvalidArgument);
  }
}

// Words by the splitter, merges by the definition.
TEST(ByteLevelBpe, EqualsTheDefinitionOnRandomVocabularies) {
  constexpr uint32_t kSeed = 17;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 40; ++round) {
    VocabularyDraft draft = SmallBpe();
    for (int i = 0; i < 120; ++i) {
      const std::string left = draft.tokens[rng() % 2 == 0 ? 'a' + rng() % 3 : rng() % draft.tokens.size()];
      const std::string right = draft.tokens[rng() % 2 == 0 ? 'a' + rng() % 3 : rng() % draft.tokens.size()];
      if (left.size() + right.size() < 16) draft.AddMerge(left, right);
    }
    const auto tokenizer = MakeTokenizer(draft.BpeValues("gpt-2"));
    std::map<std::string, double> ranks;
    for (size_t i = 0; i < draft.merges.size(); ++i) ranks.try_emplace(draft.merges[i], static_cast<double>(i));
    const MergeOrder order = [&](const std::string& left, const std::string& right) -> std::optional<double> {
      const auto found = ranks.find(left + " " + right);
      return found == ranks.end() ? std::nullopt : std::optional(found->second);
    };
    std::string text;
    for (size_t n = rng() % 200; n > 0; --n) text += "aaabbc \xC3\xA9_"[rng() % 10];
    std::vector<std::string> expected;
    const std::string readable = DecodeAll(*tokenizer, tokenizer->Encode(text, false, false));
    WordEnds ends;
    SplitGpt2(readable, ends);
    size_t begin = 0;
    for (const size_t end : ends) {
      std::vector<std::string> letters;
      for (size_t i = begin; i < end; ++i) letters.push_back(ByteCharacter(static_cast<uint8_t>(readable[i])));
      for (const std::string& piece : NaiveMerge(letters, order)) expected.push_back(piece);
      begin = end;
    }
    ASSERT_EQ(Pieces(*tokenizer, text), expected) << "seed " << kSeed << " round " << round;
  }
}

std::string Repeat(std::string_view unit, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += unit;
  return text;
}

// A quadratic algorithm needs minutes for these.
TEST(ByteLevelBpe, VeryLongWordsTakeLinearTime) {
  constexpr size_t kNum = 100'000;
  std::mt19937 rng(1);
  std::string letters;
  std::string object = "{";
  for (size_t i = 0; i < kNum; ++i) letters += static_cast<char>('a' + rng() % 26);
  while (object.size() < kNum) object += "\"hello\":{\"type\":\"world\",\"a\":[12,12]},";
  for (const char* pre : {"gpt-2", "llama-bpe", "qwen2", "smollm", "default"}) {
    const auto tokenizer = MakeSmall(pre);
    for (const std::string& text :
         {Repeat("a", kNum), Repeat("_", kNum), Repeat("ab", kNum / 2), letters, Repeat(" ", kNum), Repeat("\n", kNum),
          Repeat("1", kNum), Repeat("🙂", kNum / 4), object, Repeat("<|im_start", kNum / 10),
          Repeat("<tool>", kNum / 6), Repeat("'", kNum)}) {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<int32_t> ids = tokenizer->Encode(text, true, false);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      EXPECT_LT(elapsed.count(), 5.0) << pre << ": " << text.substr(0, 20);
      EXPECT_EQ(DecodeAll(*tokenizer, ids), text) << pre << ": " << text.substr(0, 20);
    }
  }
}

TEST(ByteLevelBpe, ValidTextSurvivesTheRoundTrip) {
  constexpr uint32_t kSeed = 23;
  std::mt19937 rng(kSeed);
  const std::vector<std::string> atoms = {"hello", " ",          "\n",     "é",    "🙂", "12",
                                          "'s",    "<|im_end|>", "<tool>", "\r\n", "你好", "\u00A0"};
  for (const char* pre : {"gpt-2", "llama-bpe", "qwen2", "qwen35", "smollm", "default"}) {
    const auto tokenizer = MakeSmall(pre);
    for (int round = 0; round < 500; ++round) {
      std::string text;
      for (size_t i = rng() % 12; i > 0; --i) text += atoms[rng() % atoms.size()];
      for (const bool trusted : {false, true}) {
        ASSERT_EQ(DecodeAll(*tokenizer, tokenizer->Encode(text, trusted, false)), text)
            << "seed " << kSeed << ' ' << pre;
      }
    }
  }
}

}  // namespace
}  // namespace adit::tokenizer
