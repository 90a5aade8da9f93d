#ifndef ADIT_SERVER_API_ANSWER_H_
#define ADIT_SERVER_API_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/event_stream.h"
#include "server/answer_choice.h"
#include "server/api_error.h"
#include "server/api_request.h"
#include "server/logprobs_json.h"

namespace adit::server {

struct ApiUsage {
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, found in the cache
  int64_t output_tokens = 0;
  int64_t reasoning_tokens = 0;  // of the output, give or take what marks the thoughts
};

// {"prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details", "completion_tokens_details"}
nlohmann::ordered_json UsageJson(const ApiUsage& usage);
// llama.cpp's figures of one answer's speed.
nlohmann::ordered_json TimingsJson(const AnswerStats& stats);

// What an answer is called and when it began.
struct AnswerHead {
  std::string id;  // without its prefix
  int64_t created_s = 0;
};

// What the engine tells of one request, gathered for its response. One thread at a time.
class ApiAnswer {
 public:
  // `request`, whose prompts may be taken out afterwards, and `tokenizer` outlive the object.
  ApiAnswer(const ApiRequest& request, const tokenizer::Tokenizer& tokenizer);

  // An event of the prompt's request to the engine.
  void Take(size_t prompt, engine::Event event);

  // All answers have met a stop string or ended: what the engine still computes of the request is of no use.
  bool complete() const { return num_complete_ == choices_.size(); }
  // All answers of one prompt have.
  bool complete(size_t prompt) const;
  // Why the request has failed, if it has.
  const std::optional<ApiError>& error() const { return error_; }
  ApiUsage usage() const;
  const ApiRequest& request() const { return request_; }
  TokenNames names() const { return {tokenizer_, request_.tokens_as_ids}; }

  size_t num_choices() const { return choices_.size(); }
  AnswerChoice& choice(size_t index) { return choices_[index]; }
  const AnswerChoice& choice(size_t index) const { return choices_[index]; }
  // The text that goes before the choice's.
  const std::string& Echo(size_t choice) const;
  // Tokens of that text, with log probabilities.
  const std::vector<AnswerToken>& PromptTokens(size_t choice) const { return prompt_tokens_[PromptOf(choice)]; }
  nlohmann::ordered_json StopReason(const AnswerChoice& choice) const;

  // The chat.completion or text_completion object; takes the choices' news. Precondition: complete().
  nlohmann::ordered_json Body(const AnswerHead& head);

 private:
  size_t PromptOf(size_t choice) const { return choice / static_cast<size_t>(request_.generation.num_answers); }
  void PlacePromptTokens(size_t prompt);
  nlohmann::ordered_json ChatChoice(size_t index);
  nlohmann::ordered_json CompletionChoice(size_t index);
  void AddExtras(size_t index, const std::vector<AnswerToken>& tokens, nlohmann::ordered_json& out) const;

  const ApiRequest& request_;
  const tokenizer::Tokenizer& tokenizer_;
  std::vector<AnswerChoice> choices_;
  std::vector<std::vector<int32_t>> prompts_;            // with token ids only
  std::vector<std::vector<AnswerToken>> prompt_tokens_;  // of each prompt, with their log probabilities only
  std::vector<int64_t> cached_tokens_;                   // of each prompt
  std::vector<size_t> num_prompt_tokens_;                // of each prompt
  std::string call_prefix_;                              // of the choice that is being told
  size_t num_complete_ = 0;
  std::optional<ApiError> error_;
};

// The message of a chat's answer, from its deltas.
nlohmann::ordered_json MessageJson(const std::vector<OutputDelta>& deltas, const ApiRequest& request,
                                   const std::string& call_prefix);
// Tells what rules have found, if they have: {"adit": {"guard": [...]}}.
void AddVerdicts(const AnswerChoice& choice, nlohmann::ordered_json& out);
// The same, and why an answer was cut off before its length: {"adit": {"stop_reason": "deadline" or "cancelled"}}.
void AddWhyStopped(const AnswerChoice& choice, nlohmann::ordered_json& out);
// OpenAI's name of the class that the request runs in.
const char* ServiceTier(const ApiRequest& request);
// That, and what the tokens hang on beside the request.
void AddIdentity(const ApiRequest& request, nlohmann::ordered_json& out);
// What calls of a choice's tools are called: this and their number.
std::string CallPrefix(const AnswerHead& head, size_t choice);

}  // namespace adit::server

#endif  // ADIT_SERVER_API_ANSWER_H_
