#ifndef ADIT_SERVER_LOGPROBS_JSON_H_
#define ADIT_SERVER_LOGPROBS_JSON_H_

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "server/answer_choice.h"
#include "tokenizer/tokenizer.h"

// Log probabilities as clients read them. A probability of zero is -9999: JSON has no infinity.
namespace adit::server {

// How tokens are named.
struct TokenNames {
  const tokenizer::Tokenizer& tokenizer;
  bool as_ids = false;  // "token_id:5"
  std::string Of(int32_t id) const;
};

// {"content": [{"token", "logprob", "bytes", "top_logprobs"}], "refusal": null}
nlohmann::ordered_json ChatLogprobs(std::span<const AnswerToken> tokens, const TokenNames& names);

// vLLM's list of {"id": {"logprob", "rank", "decoded_token"}}; null for the first.
nlohmann::ordered_json PromptLogprobs(std::span<const AnswerToken> tokens, const TokenNames& names);

// {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, in pieces: offsets count characters from the start of
// all the text.
class CompletionLogprobs {
 public:
  explicit CompletionLogprobs(TokenNames names) : names_(names) {}

  // What `tokens` tell. `text` is all there is so far.
  nlohmann::ordered_json Of(std::span<const AnswerToken> tokens, std::string_view text);

 private:
  TokenNames names_;
  size_t begin_ = 0;      // byte of the last token
  size_t character_ = 0;  // that begins there
};

}  // namespace adit::server

#endif  // ADIT_SERVER_LOGPROBS_JSON_H_
