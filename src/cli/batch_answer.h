#ifndef ADIT_CLI_BATCH_ANSWER_H_
#define ADIT_CLI_BATCH_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/batch_fields.h"
#include "cli/batch_request.h"
#include "engine/event_stream.h"
#include "engine/text_stream.h"

namespace adit::cli {

struct ApiUsage {
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;  // of the prompt, found in the cache
  int64_t output_tokens = 0;
};

// The error that a request meets in the engine, as clients are told of it.
ApiError ErrorOfEngine(const Status& status);

// What the engine tells of one request, gathered into the body of its response. One thread at a time.
class ApiAnswer {
 public:
  // `tokenizer` outlives the object. The request's prompt is needed here only for its length and its echo.
  ApiAnswer(const ApiRequest& request, const tokenizer::Tokenizer& tokenizer);

  void Take(engine::Event event);

  // All answers have met a stop string or ended: what the engine still computes of the request is of no use.
  bool complete() const { return num_complete_ == choices_.size(); }
  // Why the request has failed, if it has.
  const std::optional<ApiError>& error() const { return error_; }
  ApiUsage usage() const;

  // The chat.completion or text_completion object. Precondition: complete().
  nlohmann::ordered_json Body(const std::string& id, int64_t created_s) const;

 private:
  struct Token {
    int32_t id = 0;
    double logprob = 0.0;
    std::vector<TokenLogprob> top;
    size_t begin = 0;  // of its text in that of the answer, in bytes
  };
  struct Choice {
    engine::TextStream stream;
    std::string text;
    std::vector<Token> tokens;  // with log probabilities only
    int64_t num_tokens = 0;     // the one that ended it included
    const char* finish_reason = nullptr;
    std::optional<size_t> stop;         // string that was found
    std::optional<int32_t> stop_token;  // of the request that ended it
  };

  void TakeToken(engine::Event event);
  void TakeEnd(const engine::Event& event);
  void End(Choice& choice, const char* finish_reason);
  nlohmann::ordered_json ChatChoice(const Choice& choice, size_t index) const;
  nlohmann::ordered_json CompletionChoice(const Choice& choice, size_t index) const;
  nlohmann::ordered_json ChatLogprobs(const Choice& choice) const;
  nlohmann::ordered_json CompletionLogprobs(const Choice& choice) const;
  nlohmann::ordered_json StopReason(const Choice& choice) const;
  std::string TokenText(int32_t id) const;

  const tokenizer::Tokenizer& tokenizer_;
  const ApiKind kind_;
  const std::string model_;
  const std::vector<std::string> stops_;
  const std::vector<int32_t> stop_token_ids_;
  const bool logprobs_;
  const std::optional<std::string> echo_;

  std::vector<Choice> choices_;
  std::vector<Token> prompt_tokens_;  // with echo and log probabilities only
  ApiUsage usage_;                    // of the prompt
  size_t num_complete_ = 0;
  std::optional<ApiError> error_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_BATCH_ANSWER_H_
