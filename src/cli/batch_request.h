#ifndef ADIT_CLI_BATCH_REQUEST_H_
#define ADIT_CLI_BATCH_REQUEST_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "adit/status.h"
#include "cli/batch_fields.h"
#include "cli/chat_prompt.h"
#include "engine/request.h"
#include "tokenizer/tokenizer.h"

namespace adit::cli {

enum class ApiKind : uint8_t {
  kChat,        // /v1/chat/completions
  kCompletion,  // /v1/completions
};

// What a request's body is read against. Everything outlives the requests.
struct ApiModel {
  const tokenizer::Tokenizer& tokenizer;
  // The model's chat template, or why chat requests cannot be answered.
  const Result<ChatPrompt>& chat;
  std::string name;         // for answers to requests that name no model
  int64_t vocab_size = 0;   // tokens that have both a logit and a text
  int64_t max_context = 0;  // tokens of a sequence, prompt and answer together
  // Most tokens of an answer where the request does not say; nothing: 16 for completions, as OpenAI has it, and what
  // the context has room for in chats.
  std::optional<int64_t> default_max_tokens;
};

// A request as the engine takes it, and what else its answer needs.
struct ApiRequest {
  ApiKind kind = ApiKind::kChat;
  std::string model;
  engine::GenerationRequest generation;
  std::vector<std::string> stops;   // strings that end an answer
  bool logprobs = false;            // told with the answer; how many is generation.sampling.top_logprobs
  std::optional<std::string> echo;  // the prompt's text, which goes before that of each answer
};

// Reads the body of a request, a JSON object. A field that is null is absent; one that the interface knows and this
// build does not support is an error unless it asks for nothing; others are passed over. A request without a seed gets
// one drawn. Changes nothing and may run on any thread.
std::variant<ApiRequest, ApiError> ReadRequest(const nlohmann::json& body, ApiKind kind, const ApiModel& model);

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_REQUEST_H_
