#ifndef ADIT_SERVER_EMBEDDING_JSON_H_
#define ADIT_SERVER_EMBEDDING_JSON_H_

#include <cstdint>
#include <span>
#include <string>

#include "engine/embedding_engine.h"
#include "server/embedding_request.h"

namespace adit::server {

// Bytes as text, RFC 4648 with padding.
std::string Base64(std::span<const unsigned char> bytes);

// The bodies of answers. `embeddings` are those of the request's texts.
std::string EmbeddingsBody(const EmbeddingsRequest& request, const engine::Embeddings& embeddings, int64_t dim);
std::string RerankBody(const RerankRequest& request, const engine::Embeddings& embeddings, const std::string& id);
std::string ScoreBody(const ScoreRequest& request, const engine::Embeddings& embeddings, const std::string& id,
                      int64_t created_s);
// Of a classifier: the likeliest label of each text, and the probability of each.
std::string ClassifyBody(const ClassifyRequest& request, const engine::Embeddings& outputs,
                         std::span<const std::string> labels, const std::string& id, int64_t created_s);
std::string PoolingBody(const ClassifyRequest& request, const engine::Embeddings& outputs, const std::string& id,
                        int64_t created_s);

}  // namespace adit::server

#endif  // ADIT_SERVER_EMBEDDING_JSON_H_
