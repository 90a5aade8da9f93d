#ifndef ADIT_SERVER_OLLAMA_REQUEST_H_
#define ADIT_SERVER_OLLAMA_REQUEST_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <variant>

#include "server/api_error.h"
#include "server/api_request.h"
#include "server/chat_body.h"
#include "server/embedding_request.h"

namespace adit::server {

// Ollama's names of models may end in ":latest", which says nothing.
std::string_view WithoutLatest(std::string_view name);

// A request of Ollama's as one of chats, or of completions where its prompt is raw or has a suffix.
struct OllamaBody {
  ChatBody chat;
  ApiKind kind = ApiKind::kChat;
  bool only_loads = false;  // it has nothing to be answered: the model is to be there
};

// /api/chat and /api/generate. What belongs to the engine and not to a request (num_ctx, keep_alive and the like) has
// no effect. Images are errors that name them.
std::variant<OllamaBody, ApiError> ChatOfOllama(const nlohmann::json& body);
std::variant<OllamaBody, ApiError> GenerateOfOllama(const nlohmann::json& body);

// /api/embed.
std::variant<EmbeddingsRequest, ApiError> ReadOllamaEmbed(const nlohmann::json& body, const EmbeddingModel& model);

// Has an error about these speak of the fields of Ollama's request.
void RenameForOllama(ApiError& error);

}  // namespace adit::server

#endif  // ADIT_SERVER_OLLAMA_REQUEST_H_
