#ifndef ADIT_SERVER_API_REQUEST_H_
#define ADIT_SERVER_API_REQUEST_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "adit/sampling_params.h"
#include "adit/status.h"
#include "engine/request.h"
#include "guard/rules.h"
#include "server/api_error.h"
#include "server/chat_prompt.h"
#include "server/constraint_fields.h"
#include "server/fim_format.h"
#include "server/output_format.h"
#include "tokenizer/tokenizer.h"

namespace adit::server {

// Of requests that run when no other waits.
inline constexpr int32_t kIdlePriority = 1000;

enum class ApiKind : uint8_t {
  kChat,        // /v1/chat/completions
  kCompletion,  // /v1/completions
};

// Bounds that a deployment may set.
struct ApiLimits {
  int64_t max_answers = 128;  // n
  int64_t max_prompts = 128;  // of one completion request
  size_t max_stops = 16;
  int64_t max_top_logprobs = 20;
  int64_t max_output_tokens = -1;  // of an answer; -1: the context bounds it
};

// What a request's body is read against. Everything outlives the requests.
struct ApiModel {
  const tokenizer::Tokenizer& tokenizer;
  // The model's chat template, or why chat requests cannot be answered.
  const Result<ChatPrompt>& chat;
  std::string name;              // for answers to requests that name no model
  std::string fingerprint = {};  // engine::Fingerprint; empty: not told
  int64_t vocab_size = 0;        // tokens that have both a logit and a text
  int64_t max_context = 0;       // tokens of a sequence, prompt and answer together
  SamplingParams sampling = {};  // what a request gets that does not say
  // Most tokens of an answer where the request does not say; nothing: 16 for completions, as OpenAI has it, and what
  // the context has room for in chats.
  std::optional<int64_t> default_max_tokens;
  ApiLimits limits = {};
  std::optional<FimFormat> fim = {};  // how it fills gaps, if it does
  // How this model writes tool calls and thoughts.
  OutputFormat output = {};
  // Whether answers may be streamed; a file of results has no use for it.
  bool streams = false;
};

// How an answer is streamed.
struct StreamWish {
  bool on = false;
  bool usage = false;             // a last chunk with the usage
  bool continuous_usage = false;  // usage in every chunk
  int64_t interval = 1;           // tokens between chunks
  double ping_s = 15.0;           // of silence
};

// A request as the engine takes it, and what else its answer needs.
struct ApiRequest {
  ApiKind kind = ApiKind::kChat;
  std::string model;
  std::string fingerprint;  // ApiModel::fingerprint
  bool is_flex = false;     // of the class that runs when nothing else does
  engine::GenerationRequest generation;
  std::vector<std::vector<int32_t>> more_prompts;  // beside generation.prompt, each with answers of its own
  std::vector<std::string> stops;                  // strings that end an answer
  bool include_stop = false;                       // the string is part of the answer
  bool with_special = false;                       // control tokens are part of the text
  bool logprobs = false;                           // told with the answer; how many is sampling.top_logprobs
  bool prompt_logprobs = false;                    // told apart from the answer, as vLLM does
  bool token_ids = false;                          // told beside the text
  bool tokens_as_ids = false;                      // log probabilities name tokens as "token_id:5"
  bool timings = false;
  std::vector<std::string> echo;  // of each prompt: its text, which goes before that of its answers; empty: no echo
  StreamWish stream;
  OutputWish output;                          // how the text is taken apart
  std::optional<Constraint> constraint;       // to compile for generation.grammar; of chats with that of calls of tools
  std::vector<std::string> ignored;           // fields that nobody knows
  std::shared_ptr<const guard::Rules> guard;  // that answers pass by; null: none
  std::vector<guard::Verdict> input_verdicts = {};  // of the request itself
  double tokenize_seconds = 0.0;                    // that making tokens of prompts took

  size_t num_prompts() const { return 1 + more_prompts.size(); }
};

// Reads the body of a request, a JSON object. A field that is null is absent; one that the interface knows and this
// build does not support is an error unless it asks for nothing; others are passed over and named in `ignored`. A
// request without a seed gets one drawn. `text`: the body as it came, for the order of members in schemas and tools;
// empty: it does not matter. `tenant_tokens`: as GenerationRequest has it. Changes nothing and may run on any thread.
std::variant<ApiRequest, ApiError> ReadRequest(const nlohmann::json& body, ApiKind kind, const ApiModel& model,
                                               std::string_view text = {}, int64_t tenant_tokens = 0);

}  // namespace adit::server

#endif  // ADIT_SERVER_API_REQUEST_H_
