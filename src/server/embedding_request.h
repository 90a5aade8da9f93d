#ifndef ADIT_SERVER_EMBEDDING_REQUEST_H_
#define ADIT_SERVER_EMBEDDING_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/embedding_engine.h"
#include "server/api_error.h"
#include "server/api_request.h"

namespace adit::server {

// A model that makes embeddings, as requests are read against it.
struct EmbeddingModel {
  const ApiModel& api;
  int64_t dim = 0;  // numbers of an embedding
  engine::Pooling pooling = engine::Pooling::kMean;
  std::span<const std::string> labels;  // of a classifier; empty: the model is none

  bool is_classifier() const { return !labels.empty(); }
};

// What requests that need embeddings have in common.
struct EmbeddingWish {
  std::string model;
  engine::EmbeddingRequest request;
  int64_t num_tokens = 0;            // of all texts
  std::vector<std::string> ignored;  // fields that nobody knows
};

// /v1/embeddings: OpenAI's, with additions of vLLM.
struct EmbeddingsRequest {
  EmbeddingWish wish;
  bool base64 = false;  // numbers are told as the bytes of little-endian float32
};

// /v1/rerank: that of Cohere and Jina. The first text is the query, the others are the documents; of a classifier (a
// cross-encoder) each text is the query and a document, a pair.
struct RerankRequest {
  EmbeddingWish wish;
  bool pairs = false;
  std::vector<std::string> documents;  // to be told again; empty: they are not
  size_t top_n = 0;                    // documents told
};

// /v1/score: vLLM's. The first num_left texts are compared with those behind them, each with its own or one with all;
// of a classifier each text is such a pair.
struct ScoreRequest {
  EmbeddingWish wish;
  bool pairs = false;
  size_t num_left = 0;
};

// /v1/classify and /pooling: vLLM's.
struct ClassifyRequest {
  EmbeddingWish wish;
};

// Read the body of a request, a JSON object; as ReadRequest in all else. A text that is empty or has more tokens than
// the model's context is an error, unless it is to be cut.
std::variant<EmbeddingsRequest, ApiError> ReadEmbeddings(const nlohmann::json& body, const EmbeddingModel& model);
std::variant<RerankRequest, ApiError> ReadRerank(const nlohmann::json& body, const EmbeddingModel& model);
std::variant<ScoreRequest, ApiError> ReadScore(const nlohmann::json& body, const EmbeddingModel& model);
// Only of a classifier.
std::variant<ClassifyRequest, ApiError> ReadClassify(const nlohmann::json& body, const EmbeddingModel& model);
// Of any model: what a classifier says of a text, before it becomes probabilities, or the text's embedding.
std::variant<ClassifyRequest, ApiError> ReadPooling(const nlohmann::json& body, const EmbeddingModel& model);

}  // namespace adit::server

#endif  // ADIT_SERVER_EMBEDDING_REQUEST_H_
