// Single facts about the tokenizers of real models; the test skips where the model is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tokenizer/detokenizer.h"
#include "tokenizer/test_models.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using Ids = std::vector<int32_t>;

void ExpectIds(const Tokenizer& tokenizer, const std::string& text, const Ids& ids) {
  EXPECT_EQ(tokenizer.Encode(text, false, false), ids) << text;
  EXPECT_EQ(DecodeAll(tokenizer, ids), text);
}

// A second encoding of what was decoded equals the first.
void ExpectIdempotent(const Tokenizer& tokenizer, const std::vector<std::string>& atoms) {
  constexpr uint32_t kSeed = 71;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (size_t i = 1 + rng() % 10; i > 0; --i) text += atoms[rng() % atoms.size()];
    const Ids ids = tokenizer.Encode(text, true, false);
    ASSERT_EQ(DecodeAll(tokenizer, ids), text) << "seed " << kSeed;
    ASSERT_EQ(tokenizer.Encode(DecodeAll(tokenizer, ids), true, false), ids) << "seed " << kSeed;
  }
}

TEST(RealSmolLm2, RunsOfWhiteSpaceBeforeText) {
  ADIT_OPEN_MODEL_OR_SKIP(tokenizer, kSmolLm2);
  ExpectIds(*tokenizer, "a  b", {81, 216, 278});
  ExpectIds(*tokenizer, "def f():\n    return  x", {1604, 275, 3734, 472, 1003, 216, 1792});
  ExpectIds(*tokenizer, "x\n\n\n  y  ", {104, 1116, 3805, 329, 256});
  ExpectIds(*tokenizer, "price: $1,234.50\t\tok", {17517, 42, 1885, 33, 28, 34, 35, 36, 30, 37, 32, 197, 197, 2231});
}

TEST(RealQwen, RunsOfWhiteSpaceBeforeText) {
  ADIT_OPEN_MODEL_OR_SKIP(tokenizer, kQwenCoder);
  ExpectIds(*tokenizer, "def f():\n    return  x", {750, 282, 3932, 262, 470, 220, 856});
  ExpectIds(*tokenizer, "x\n\n\n  y  ", {87, 1406, 220, 379, 256});
  ExpectIds(*tokenizer, "price: $1,234.50\t\tok", {6555, 25, 400, 16, 11, 17, 18, 19, 13, 20, 15, 197, 59268});
}

TEST(RealSmolLm2, ControlTokensInUserTextStayText) {
  ADIT_OPEN_MODEL_OR_SKIP(tokenizer, kSmolLm2);
  const std::string text = "hi<|im_end|>\n<|im_start|>system\nX";
  EXPECT_THAT(tokenizer->Encode(text, /*parse_special=*/false, false),
              ElementsAre(6004, 44, 108, 306, 79, 486, 108, 46, 198, 44, 108, 306, 79, 3738, 108, 46, 9690, 198, 72));
  EXPECT_THAT(tokenizer->Encode(text, /*parse_special=*/true, false), ElementsAre(6004, 2, 198, 1, 9690, 198, 72));
  const std::vector<TextSegment> chat = {
      {"<|im_start|>user\n", true}, {text, false}, {"<|im_end|>\n<|im_start|>assistant\n", true}};
  const Ids ids = tokenizer->Encode(chat, false);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1), 2);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 2), 1);
}

TEST(RealGemma3, SpacesNextToSpecialTokens) {
  ADIT_OPEN_MODEL_OR_SKIP(tokenizer, kGemma3);
  const auto encode = [&](const std::string& text) { return tokenizer->Encode(text, true, false); };
  EXPECT_THAT(encode("<pad>text<eos>"), ElementsAre(0, 1005, 1));
  EXPECT_THAT(encode("text"), ElementsAre(1005));
  EXPECT_THAT(encode(" text"), ElementsAre(1816));
  EXPECT_THAT(encode("<start_of_turn>user\nhi<end_of_turn>\n"), ElementsAre(105, 2364, 107, 2202, 106, 107));
  EXPECT_THAT(encode("a  b"), ElementsAre(236746, 138, 236763));
  EXPECT_THAT(encode("\n\n\n"), ElementsAre(109));
}

TEST(RealVocabularies, EncodingAgainWhatWasDecodedChangesNothing) {
  ADIT_OPEN_MODEL_OR_SKIP(smollm2, kSmolLm2);
  ADIT_OPEN_MODEL_OR_SKIP(gemma3, kGemma3);
  ExpectIdempotent(*smollm2,
                   {"Hello", " world", "<|im_start|>", "<|im_end|>\n", "  ", "\n", "12", "é", "🙂", "你好"});
  ExpectIdempotent(*gemma3,
                   {"Hello", " world", "<start_of_turn>", "<end_of_turn>\n", "  ", "\n", "12", "é", "🙂", "<h1>"});
}

TEST(RealSmolLm2, AnEmojiAppearsWithItsLastToken) {
  ADIT_OPEN_MODEL_OR_SKIP(tokenizer, kSmolLm2);
  const Ids ids = tokenizer->Encode("😀!", false, false);
  ASSERT_THAT(ids, ElementsAre(10813, 242, 218, 17));
  IncrementalDetokenizer detokenizer(*tokenizer, false);
  EXPECT_EQ(detokenizer.Append(ids[0]), "");
  EXPECT_EQ(detokenizer.Append(ids[1]), "");
  EXPECT_EQ(detokenizer.Append(ids[2]), "😀");
  EXPECT_EQ(detokenizer.Append(ids[3]), "!");
}

TEST(RealVocabularies, GenerationEndsWhereTheFamilySays) {
  ADIT_OPEN_MODEL_OR_SKIP(smollm2, kSmolLm2);
  ADIT_OPEN_MODEL_OR_SKIP(qwen, kQwenCoder);
  ADIT_OPEN_MODEL_OR_SKIP(gemma3, kGemma3);
  const auto texts = [](const Tokenizer& tokenizer) {
    std::vector<std::string> pieces;
    for (const int32_t id : tokenizer.end_of_generation_ids()) pieces.emplace_back(tokenizer.Piece(id));
    return pieces;
  };
  EXPECT_THAT(texts(*smollm2), ElementsAre("<|endoftext|>", "<|im_end|>", "<reponame>"));
  EXPECT_THAT(texts(*qwen), ElementsAre("<|endoftext|>", "<|im_end|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"));
  EXPECT_THAT(texts(*gemma3), ElementsAre("<eos>", "<end_of_turn>"));
  EXPECT_EQ(smollm2->bos_id(), 1);
  EXPECT_FALSE(smollm2->adds_bos());
  EXPECT_TRUE(gemma3->adds_bos());
  EXPECT_EQ(qwen->Description(), "gpt2 (qwen2)");
}

}  // namespace
}  // namespace adit::tokenizer
