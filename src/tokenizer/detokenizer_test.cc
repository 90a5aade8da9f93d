#include "tokenizer/detokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/utf8.h"
#include "tokenizer/test_models.h"
#include "tokenizer/test_vocabulary.h"

namespace adit::tokenizer {
namespace {

// In SmallSpm the token of byte b.
int32_t ByteToken(int byte) { return 3 + byte; }

TEST(IncrementalDetokenizer, HoldsACharacterBackUntilItIsWhole) {
  const auto tokenizer = MakeBpe();
  const std::vector<int32_t> ids = tokenizer->Encode("😀!", false, false);
  ASSERT_EQ(tokenizer->TokenBytes(ids[0], false), "\xF0\x9F");
  IncrementalDetokenizer detokenizer(*tokenizer, false);
  EXPECT_EQ(detokenizer.Append(ids[0]), "");
  EXPECT_EQ(detokenizer.Append(ids[1]), "");
  EXPECT_EQ(detokenizer.Append(ids[2]), "😀");
  EXPECT_EQ(detokenizer.Append(ids[3]), "!");
  EXPECT_EQ(detokenizer.Finish(), "");
}

TEST(IncrementalDetokenizer, AnUnfinishedCharacterEndsAsOneReplacement) {
  const auto tokenizer = MakeBpe();
  const std::vector<int32_t> ids = tokenizer->Encode("😀", false, false);
  IncrementalDetokenizer detokenizer(*tokenizer, false);
  EXPECT_EQ(detokenizer.Append(ids[0]), "");
  EXPECT_EQ(detokenizer.Append(ids[1]), "");
  EXPECT_EQ(detokenizer.Finish(), "\uFFFD");
  EXPECT_EQ(detokenizer.Finish(), "") << "nothing is left";
}

TEST(IncrementalDetokenizer, AnInvalidByteIsNotHeldBack) {
  const auto tokenizer = MakeTokenizer(SmallSpm().SpmValues());
  IncrementalDetokenizer detokenizer(*tokenizer, false);
  EXPECT_EQ(detokenizer.Append(ByteToken(0xFF)), "\uFFFD");
  EXPECT_EQ(detokenizer.Append(ByteToken('a')), "a");
  EXPECT_EQ(detokenizer.Append(ByteToken(0xE2)), "");
  EXPECT_EQ(detokenizer.Append(ByteToken('b')), "\uFFFDb");
  EXPECT_EQ(detokenizer.Append(ByteToken(0xED)), "");
  EXPECT_EQ(detokenizer.Append(ByteToken(0xA0)), "\uFFFD\uFFFD") << "no surrogate can become a character";
}

TEST(IncrementalDetokenizer, ControlTokensAreShownOnRequest) {
  const auto tokenizer = MakeBpe();
  const std::vector<int32_t> ids = tokenizer->Encode("hello<|im_end|>", true, false);
  IncrementalDetokenizer silent(*tokenizer, false);
  EXPECT_EQ(silent.Append(ids[0]), "hello");
  EXPECT_EQ(silent.Append(ids[1]), "");
  IncrementalDetokenizer loud(*tokenizer, true);
  EXPECT_EQ(loud.Append(ids[0]), "hello");
  EXPECT_EQ(loud.Append(ids[1]), "<|im_end|>");
}

TEST(IncrementalDetokenizer, TheFirstWordLosesItsSpace) {
  const auto tokenizer = MakeTokenizer(SmallSpm().SpmValues());
  const std::vector<int32_t> ids = tokenizer->Encode("<turn>hello world", true, false);
  IncrementalDetokenizer detokenizer(*tokenizer, false);
  EXPECT_EQ(detokenizer.Append(ids[0]), "");
  EXPECT_EQ(detokenizer.Append(ids[1]), "hello");
  EXPECT_EQ(detokenizer.Append(ids[2]), " world");
}

TEST(IncrementalDetokenizer, ALoneSpaceTokenIsTheFirstWord) {
  const auto tokenizer = MakeTokenizer(SmallSpm().SpmValues());
  const std::vector<int32_t> ids = tokenizer->Encode(" ", false, false);
  IncrementalDetokenizer detokenizer(*tokenizer, false);
  std::string text;
  for (const int32_t id : ids) text += detokenizer.Append(id);
  EXPECT_EQ(text, " ");
  EXPECT_EQ(detokenizer.Append(tokenizer->Encode("hello", false, false)[0]), " hello");
}

// Any ids, as a model may emit them.
TEST(IncrementalDetokenizer, PiecesJoinToTheDecodedTextWithoutInvalidBytes) {
  constexpr uint32_t kSeed = 53;
  std::mt19937 rng(kSeed);
  MetadataValues without_prefix = SmallSpm().SpmValues();
  without_prefix["tokenizer.ggml.add_space_prefix"] = FlagValue(false);
  for (const auto& tokenizer : {MakeBpe(), MakeTokenizer(SmallSpm().SpmValues()), MakeTokenizer(without_prefix)}) {
    for (int round = 0; round < 3'000; ++round) {
      const bool with_special = rng() % 2 == 0;
      IncrementalDetokenizer detokenizer(*tokenizer, with_special);
      std::vector<int32_t> ids;
      std::string joined;
      for (size_t i = rng() % 20; i > 0; --i) {
        ids.push_back(static_cast<int32_t>(rng() % static_cast<uint64_t>(tokenizer->vocab_size())));
        const std::string piece = detokenizer.Append(ids.back());
        ASSERT_TRUE(IsValidUtf8(piece)) << "seed " << kSeed;
        joined += piece;
        const auto so_far = tokenizer->Decode(ids, with_special);
        ASSERT_TRUE(so_far.ok());
        const size_t held_back = IncompleteUtf8Suffix(*so_far);
        ASSERT_LE(held_back, 3u);
        ASSERT_EQ(joined, ReplaceInvalidUtf8(so_far->substr(0, so_far->size() - held_back))) << "seed " << kSeed;
      }
      joined += detokenizer.Finish();
      const auto decoded = tokenizer->Decode(ids, with_special);
      ASSERT_TRUE(decoded.ok());
      ASSERT_EQ(joined, ReplaceInvalidUtf8(*decoded)) << "seed " << kSeed;
    }
  }
}

}  // namespace
}  // namespace adit::tokenizer
