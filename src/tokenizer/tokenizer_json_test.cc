#include "tokenizer/tokenizer_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/detokenizer.h"
#include "tokenizer/json_document.h"
#include "tokenizer/json_parts.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Ids = std::vector<int32_t>;

// A word-level tokenizer: words between white space, "[M]" and others as added tokens.
constexpr std::string_view kWords = R"({
  "added_tokens": [
    {"id": 3, "content": "<s>", "special": true, "normalized": false},
    {"id": 4, "content": "</s>", "special": true, "normalized": false},
    {"id": 5, "content": "[M]", "special": false, "normalized": false, "lstrip": true}
  ],
  "normalizer": null, "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": null,
  "post_processor": {"type": "TemplateProcessing",
    "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [3], "tokens": ["<s>"]}}},
  "model": {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 1, "b": 2}, "unk_token": "<unk>"}
})";

std::string With(std::string_view from, std::string_view to) {
  std::string text(kWords);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Result<std::unique_ptr<Tokenizer>> Make(const std::string& text) {
  const auto document = JsonDocument::Parse(text, "t.json");
  if (!document.ok()) return document.status();
  return MakeTokenizerJson(document->root(), SideFiles(), "t.json");
}

// A folder that goes with the test.
class TokenizerFolder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("adit_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(TokenizerFolder, OpensByFolderAndByFile) {
  Write("tokenizer.json", kWords);
  for (const std::string& path : {folder_.string(), (folder_ / "tokenizer.json").string()}) {
    const auto tokenizer = LoadTokenizerJson(path);
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
    EXPECT_THAT((*tokenizer)->Encode("a b", true, true), ElementsAre(3, 1, 2));
    EXPECT_EQ((*tokenizer)->Description(), "WordLevel (tokenizer.json)");
  }
  EXPECT_EQ(LoadTokenizerJson((folder_ / "nothing").string()).status().code(), StatusCode::kNotFound);
}

TEST_F(TokenizerFolder, RolesComeFromTheFilesBeside) {
  Write("tokenizer.json", kWords);
  Write("special_tokens_map.json", R"({"bos_token": "<s>", "eos_token": "<unk>"})");
  Write("tokenizer_config.json", R"({"eos_token": {"content": "</s>"}, "add_eos_token": true})");
  Write("generation_config.json", R"({"eos_token_id": [2, 4, 99, -1]})");
  const auto tokenizer = LoadTokenizerJson(folder_.string());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_EQ((*tokenizer)->bos_id(), 3);
  EXPECT_EQ((*tokenizer)->eos_id(), 4);
  EXPECT_TRUE((*tokenizer)->adds_bos());
  EXPECT_TRUE((*tokenizer)->adds_eos());
  EXPECT_THAT((*tokenizer)->Encode("a", true, true), ElementsAre(3, 1, 4));
  EXPECT_THAT((*tokenizer)->end_of_generation_ids(), ElementsAre(2, 4));
}

TEST_F(TokenizerFolder, TheConfigurationMayTakeTheBeginningAway) {
  Write("tokenizer.json", kWords);
  Write("tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": false})");
  const auto tokenizer = LoadTokenizerJson(folder_.string());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_THAT((*tokenizer)->Encode("a", true, true), ElementsAre(1));
  EXPECT_FALSE((*tokenizer)->adds_bos());
}

TEST_F(TokenizerFolder, TheConfigurationMayAddTokens) {
  Write("tokenizer.json", kWords);
  Write("tokenizer_config.json", R"({"added_tokens_decoder": {
      "5": {"content": "[M]", "special": true}, "6": {"content": "<tool>", "special": false, "normalized": false}}})");
  const auto tokenizer = LoadTokenizerJson(folder_.string());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_THAT((*tokenizer)->Encode("a<tool>b [M]", false, false), ElementsAre(1, 6, 2, 0));
  EXPECT_EQ((*tokenizer)->Type(5), TokenType::kControl);
  Write("tokenizer_config.json", R"({"add_bos_token": true})");
  EXPECT_THAT(LoadTokenizerJson(folder_.string()).status().message(), HasSubstr("'add_bos_token' is true"));
  Write("tokenizer_config.json", "{");
  EXPECT_THAT(LoadTokenizerJson(folder_.string()).status().message(), HasSubstr("tokenizer_config.json: not JSON"));
}

TEST(TokenizerJson, SpecialTokensCountInTrustedTextAlone) {
  const auto tokenizer = Make(std::string(kWords));
  ASSERT_TRUE(tokenizer.ok());
  const std::vector<TextSegment> segments = {{"<s>a", true}, {" </s> [M]b", false}, {"</s>", true}};
  EXPECT_THAT((*tokenizer)->Encode(segments, false), ElementsAre(3, 1, 0, 5, 2, 4));
}

// Special tokens that are looked for in the normalized text know where that text came from.
TEST(TokenizerJson, TrustFollowsTheTextThroughNormalization) {
  const std::string lower = With(R"("normalizer": null)", R"("normalizer": {"type": "Lowercase"})");
  std::string text = lower;
  const std::string from = R"("</s>", "special": true, "normalized": false)";
  text.replace(text.find(from), from.size(), R"("</S>", "special": true, "normalized": true)");
  const auto tokenizer = Make(text);
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_THAT((*tokenizer)->Encode("A </S> b </s>", true, false), ElementsAre(1, 4, 2, 4));
  EXPECT_THAT((*tokenizer)->Encode("A </S> b </s>", false, false), ElementsAre(1, 0, 2, 0));
  const std::vector<TextSegment> segments = {
      {"\u0130 </S> ", false}, {"A </s>", true}, {" </s> ", false}, {"</", true}, {"s>", false}};
  EXPECT_THAT((*tokenizer)->Encode(segments, false), ElementsAre(0, 0, 1, 4, 0, 0));
}

struct Refusal {
  std::string from;
  std::string to;
  StatusCode code;
  std::string message;
};

TEST(TokenizerJson, WhatIsNotKnownIsRefusedByName) {
  const std::vector<Refusal> refusals = {
      {R"("normalizer": null)", R"("normalizer": {"type": "Magic"})", StatusCode::kUnsupported,
       "t.json: normalizer: type 'Magic', this build knows: BertNormalizer"},
      {R"({"type": "WhitespaceSplit"})", R"({"type": "UnicodeScripts"})", StatusCode::kUnsupported,
       "t.json: pre_tokenizer: type 'UnicodeScripts', this build knows: "},
      {R"("decoder": null)", R"("decoder": {"type": "CTC"})", StatusCode::kUnsupported,
       "t.json: decoder: type 'CTC', this build knows: "},
      {R"({"type": "TemplateProcessing")", R"({"type": "Other")", StatusCode::kUnsupported,
       "t.json: post_processor: type 'Other', this build knows: "},
      {R"({"type": "WordLevel")", R"({"type": "Markov")", StatusCode::kUnsupported,
       "t.json: model type 'Markov', this build knows: BPE, Unigram"},
      {R"("normalizer": null)", R"("normalizer": {"type": "Replace", "pattern": {"Regex": "(a"}, "content": ""})",
       StatusCode::kUnsupported, "pattern '(a'"},
      {R"("normalizer": null)", R"("normalizer": {"type": "Replace", "pattern": {}, "content": ""})",
       StatusCode::kCorrupt, "'pattern' has neither"},
      {R"("normalizer": null)", R"("normalizer": [])", StatusCode::kCorrupt, "normalizer: an array, wanted an object"},
      {R"("normalizer": null)", R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAA"})",
       StatusCode::kCorrupt, "precompiled_charsmap"},
      {R"({"type": "WhitespaceSplit"})", R"({"type": "Split", "pattern": {"String": " "}, "behavior": "Lost"})",
       StatusCode::kUnsupported, "'behavior' is 'Lost'"},
      {R"({"type": "WhitespaceSplit"})", R"({"type": "Sequence"})", StatusCode::kCorrupt, "'pretokenizers' is missing"},
      {R"({"Sequence": {"id": "A", "type_id": 0}})", R"({"SpecialToken": {"id": "<s>"}})", StatusCode::kUnsupported,
       "the text stands 0 times"},
      {R"("ids": [3])", R"("ids": [9])", StatusCode::kCorrupt, "an id is not one of 0 to 5"},
      {R"("a": 1)", R"("a": 2)", StatusCode::kCorrupt, "id 2 is that of 'a' and of 'b'"},
      {R"("a": 1)", R"("a": -1)", StatusCode::kCorrupt, "token 'a' has id -1"},
      {R"("a": 1)", R"("a": 99999999)", StatusCode::kCorrupt, "token 'a' has id 99999999"},
      {R"("a": 1)", R"("a": 1.5)", StatusCode::kCorrupt, "is not a whole number"},
      {R"("content": "[M]")", R"("content": "<s>")", StatusCode::kCorrupt, "tokens 3 and 5 are both '<s>'"},
      {R"("model": {)", R"("other": {)", StatusCode::kCorrupt, "no object 'model'"},
  };
  for (const Refusal& refusal : refusals) {
    const auto tokenizer = Make(With(refusal.from, refusal.to));
    ASSERT_FALSE(tokenizer.ok()) << refusal.to;
    EXPECT_EQ(tokenizer.status().code(), refusal.code) << tokenizer.status().ToString();
    EXPECT_THAT(tokenizer.status().message(), HasSubstr(refusal.message));
    EXPECT_THAT(tokenizer.status().message(), HasSubstr("t.json"));
  }
}

TEST(TokenizerJson, TheGrowthOfATextIsLimited) {
  std::string steps;
  for (int i = 0; i < 6; ++i) {
    steps += std::string(i == 0 ? "" : ",") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
             std::string(64, 'a') + R"("})";
  }
  const auto tokenizer =
      Make(With(R"("normalizer": null)", R"("normalizer": {"type": "Sequence", "normalizers": [)" + steps + "]}"));
  EXPECT_EQ(tokenizer.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(tokenizer.status().message(), HasSubstr("times as long"));
}

TEST(TokenizerJson, AddedTokensTakeTheBlanksBesideThem) {
  constexpr std::string_view kText = R"({"added_tokens": [
      {"id": 4, "content": "[M]", "lstrip": true, "normalized": false}, {"id": 5, "content": "[E]", "rstrip": true, "normalized": false},
      {"id": 6, "content": "[N]", "normalized": false}],
    "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": false}, "decoder": {"type": "ByteLevel"},
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "Ġ": 2, "Ċ": 3}, "merges": []}})";
  const auto tokenizer = Make(std::string(kText));
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
  EXPECT_THAT((*tokenizer)->Encode("a  [M] b", true, false), ElementsAre(0, 4, 2, 1));
  EXPECT_THAT((*tokenizer)->Encode("a [E]  b", true, false), ElementsAre(0, 2, 5, 1));
  EXPECT_THAT((*tokenizer)->Encode("a [N] b", true, false), ElementsAre(0, 2, 6, 2, 1));
  EXPECT_THAT((*tokenizer)->Encode(" \n[M][M] [E]\n[M]", true, false), ElementsAre(4, 4, 2, 5, 4));
  EXPECT_THAT((*tokenizer)->Encode("x", true, false), IsEmpty());
}

std::string Repeated(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

// One word however long, for each kind of model.
TEST(TokenizerJson, LongWordsTakeLinearTime) {
  const std::string models[] = {
      R"({"type": "Unigram", "vocab": [["<unk>", 0], ["a", -1], ["aa", -1.5], ["ab", -2], ["b", -2]], "unk_id": 0})",
      R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "aa": 2, "ab": 3, "aaaa": 4}, "merges": [["a", "a"], ["aa", "aa"], ["a", "b"]]})",
      R"({"type": "WordPiece", "vocab": {"a": 0, "##a": 1, "##b": 2, "[UNK]": 3}, "unk_token": "[UNK]", "max_input_chars_per_word": 9999999})"};
  for (const std::string& model : models) {
    const auto tokenizer = Make(R"({"model": )" + model + "}");
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().ToString();
    for (const std::string_view unit : {"a", "ab", "é"}) {
      const auto seconds = [&](size_t n) {
        const std::string text = Repeated(unit, n);
        const auto start = std::chrono::steady_clock::now();
        EXPECT_FALSE((*tokenizer)->Encode(text, false, false).empty() && unit != "é");
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      };
      EXPECT_LT(seconds(400'000), 2.0) << model << " " << unit;
    }
  }
}

}  // namespace
}  // namespace adit::tokenizer
