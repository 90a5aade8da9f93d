#include "server/embedding_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "server/embedding_json.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class EmbeddingRequestTest : public testing::Test {
 protected:
  EmbeddingModel model() const { return {.api = api_, .dim = 4, .pooling = engine::Pooling::kCls}; }

  EmbeddingsRequest Embeddings(const std::string& body) {
    auto read = ReadEmbeddings(Json::parse(body), model());
    EXPECT_TRUE(std::holds_alternative<EmbeddingsRequest>(read)) << std::get<ApiError>(read).message;
    return std::get<EmbeddingsRequest>(read);
  }
  ApiError EmbeddingsError(const std::string& body) {
    return std::get<ApiError>(ReadEmbeddings(Json::parse(body), model()));
  }

  const ByteTokenizer tokenizer_{/*adds_bos=*/true, /*adds_eos=*/true};
  const Result<ChatPrompt> chat_ = FailedPrecondition("none");
  const ApiModel api_{.tokenizer = tokenizer_, .chat = chat_, .name = "tiny", .vocab_size = 260, .max_context = 8};
};

TEST_F(EmbeddingRequestTest, InputsAreTextsOrIds) {
  using Texts = std::vector<std::vector<int32_t>>;
  EXPECT_EQ(Embeddings(R"({"input": "ab"})").wish.request.texts, (Texts{{kBos, 'a', 'b', kEos}}));
  EXPECT_EQ(Embeddings(R"({"input": ["a", "b"]})").wish.request.texts, (Texts{{kBos, 'a', kEos}, {kBos, 'b', kEos}}));
  EXPECT_EQ(Embeddings(R"({"input": [7, 8.0]})").wish.request.texts, (Texts{{7, 8}}));
  EXPECT_EQ(Embeddings(R"({"input": [[7], [8, 9]]})").wish.request.texts, (Texts{{7}, {8, 9}}));
  EXPECT_EQ(Embeddings(R"({"input": "<s>", "add_special_tokens": false})").wish.request.texts, (Texts{{'<', 's', '>'}}))
      << "control tokens are not read from texts";
  EXPECT_EQ(Embeddings(R"({"input": ["ab", [1]]})").wish.num_tokens, 5);
}

TEST_F(EmbeddingRequestTest, TheFormIsTheModelsUnlessAskedOtherwise) {
  const EmbeddingsRequest plain = Embeddings(R"({"input": "a", "dimensions": 4, "user": "me"})");
  EXPECT_EQ(plain.wish.request.form.pooling, engine::Pooling::kCls);
  EXPECT_TRUE(plain.wish.request.form.normalize);
  EXPECT_FALSE(plain.base64);
  EXPECT_EQ(plain.wish.model, "tiny");
  EXPECT_THAT(plain.wish.ignored, ElementsAre("user"));
  const EmbeddingsRequest other = Embeddings(
      R"({"input": "a", "pooling": "mean", "normalize": false, "encoding_format": "base64", "priority": -3})");
  EXPECT_EQ(other.wish.request.form.pooling, engine::Pooling::kMean);
  EXPECT_FALSE(other.wish.request.form.normalize);
  EXPECT_TRUE(other.base64);
  EXPECT_EQ(other.wish.request.priority, -3);
}

TEST_F(EmbeddingRequestTest, TextsAreCutWhereThatIsAskedFor) {
  EXPECT_EQ(EmbeddingsError(R"({"input": ["a", "0123456789"]})").code, "context_length_exceeded");
  EXPECT_EQ(EmbeddingsError(R"({"input": ["a", "0123456789"]})").param, "input[1]");
  EXPECT_THAT(Embeddings(R"({"input": "0123456789", "truncate_prompt_tokens": -1})").wish.request.texts[0],
              ElementsAre(kBos, '0', '1', '2', '3', '4', '5', kEos));
  EXPECT_THAT(Embeddings(R"({"input": "0123456789", "truncate_prompt_tokens": 3})").wish.request.texts[0],
              ElementsAre(kBos, '0', kEos));
}

TEST_F(EmbeddingRequestTest, WhatIsWrongIsNamed) {
  struct Case {
    const char* body;
    const char* code;
    const char* param;
  };
  for (const Case& c :
       {Case{R"({})", "missing_required_parameter", "input"}, Case{R"({"input": []})", "invalid_value", "input"},
        Case{R"({"input": ""})", "invalid_value", "input"},
        Case{R"({"input": ["a", ""]})", "invalid_value", "input[1]"},
        Case{R"({"input": [[]]})", "invalid_value", "input[0]"},
        Case{R"({"input": {"a": 1}})", "invalid_type", "input"},
        Case{R"({"input": [1, "a"]})", "invalid_type", "input[1]"},
        Case{R"({"input": [300]})", "invalid_value", "input[0]"},
        Case{R"({"input": "a", "dimensions": 2})", "unsupported_parameter", "dimensions"},
        Case{R"({"input": "a", "encoding_format": "int8"})", "invalid_value", "encoding_format"},
        Case{R"({"input": "a", "pooling": "max"})", "invalid_value", "pooling"},
        Case{R"({"input": "a", "pooling": "none", "encoding_format": "base64"})", "invalid_value", "encoding_format"},
        Case{R"({"input": "a", "truncate_prompt_tokens": 0})", "invalid_value", "truncate_prompt_tokens"}}) {
    const ApiError error = EmbeddingsError(c.body);
    EXPECT_EQ(error.code, c.code) << c.body;
    EXPECT_EQ(error.param, c.param) << c.body;
  }
}

TEST_F(EmbeddingRequestTest, BodiesTellNumbersThatReadBackTheSame) {
  const engine::Embeddings embeddings = {{0.1F, -1e-9F, 0.0F, 123456.7F}, {1, 2, 3, 4}};
  EmbeddingsRequest request = Embeddings(R"({"input": ["a", "b"]})");
  const Json body = Json::parse(EmbeddingsBody(request, embeddings, 4));
  EXPECT_EQ(body["data"][0]["embedding"].get<std::vector<float>>(), embeddings[0]);
  EXPECT_EQ(body["data"][1]["index"], 1);
  EXPECT_EQ(body["usage"]["total_tokens"], 6);
  request.base64 = true;
  // base64.b64encode(struct.pack("<4f", 1, 2, 3, 4))
  EXPECT_EQ(Json::parse(EmbeddingsBody(request, embeddings, 4))["data"][1]["embedding"], "AACAPwAAAEAAAEBAAACAQA==");
  request = Embeddings(R"({"input": "a", "pooling": "none"})");
  const Json rows = Json::parse(EmbeddingsBody(request, {{1, 2, 3, 4, 5, 6, 7, 8}}, 4));
  EXPECT_EQ(rows["data"][0]["embedding"], Json::parse("[[1, 2, 3, 4], [5, 6, 7, 8]]"));
}

TEST_F(EmbeddingRequestTest, DocumentsComeInTheOrderOfTheirScores) {
  auto read = ReadRerank(
      Json::parse(R"({"query": "q", "documents": ["a", {"text": "b"}, "c"], "top_n": 2, "return_documents": true})"),
      model());
  const RerankRequest& request = std::get<RerankRequest>(read);
  ASSERT_EQ(request.wish.request.texts.size(), 4U);
  const engine::Embeddings embeddings = {{1, 0}, {0, 1}, {1, 0}, {0.6F, 0.8F}};
  const Json body = Json::parse(RerankBody(request, embeddings, "x"));
  ASSERT_EQ(body["results"].size(), 2U);
  EXPECT_EQ(body["results"][0]["index"], 1);
  EXPECT_EQ(body["results"][0]["relevance_score"], 1.0);
  EXPECT_EQ(body["results"][0]["document"]["text"], "b");
  EXPECT_EQ(body["results"][1]["index"], 2);
  EXPECT_EQ(std::get<ApiError>(ReadRerank(Json::parse(R"({"query": "q", "documents": []})"), model())).param,
            "documents");
  EXPECT_EQ(std::get<ApiError>(ReadRerank(Json::parse(R"({"documents": ["a"]})"), model())).param, "query");
}

TEST_F(EmbeddingRequestTest, ScoresCompareOneWithAllOrEachWithItsOwn) {
  const engine::Embeddings embeddings = {{1, 0}, {0, 1}, {1, 0}, {0.6F, 0.8F}};
  const auto scores = [&](const char* text) {
    auto read = ReadScore(Json::parse(text), model());
    std::vector<double> values;
    const Json body = Json::parse(ScoreBody(std::get<ScoreRequest>(read), embeddings, "x", 1));
    for (const Json& one : body["data"]) values.push_back(one["score"]);
    return values;
  };
  EXPECT_THAT(scores(R"({"text_1": "q", "text_2": ["a", "b", "c"]})"),
              ElementsAre(0.0, 1.0, testing::DoubleNear(0.6, 1e-6)));
  EXPECT_THAT(scores(R"({"queries": ["q", "r"], "items": ["a", "b"]})"),
              ElementsAre(1.0, testing::DoubleNear(0.8, 1e-6)));
  EXPECT_THAT(std::get<ApiError>(ReadScore(Json::parse(R"({"text_1": ["q", "r"], "text_2": "a"})"), model())).message,
              HasSubstr("'text_1' has 2 texts and 'text_2' 1"));
}

}  // namespace
}  // namespace adit::server
