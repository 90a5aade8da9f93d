#ifndef ADIT_REQUEST_H_
#define ADIT_REQUEST_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "adit/grammar.h"
#include "adit/sampling_params.h"
#include "adit/status.h"

namespace adit {

// When a beam search may end (as in Hugging Face transformers).
enum class EarlyStopping : uint8_t {
  kWhenDone,   // as soon as there are as many complete answers as beams
  kHeuristic,  // when no beam at its present length can still beat the worst of them
  kNever,      // when no beam could beat it at any length
};

// Of the sampling parameters a search takes none: beams are ranked by the model's own probabilities.
struct BeamSearchParams {
  int32_t width = 0;            // 2..16 beams; 0: no beam search
  double length_penalty = 1.0;  // an answer's score is the sum of its log probabilities / length ^ length_penalty
  EarlyStopping early_stopping = EarlyStopping::kHeuristic;
};

// What a client asks of the engine.
struct GenerationRequest {
  std::vector<int32_t> prompt;  // token ids, at least one
  SamplingParams sampling;
  int64_t max_tokens = -1;  // of each answer; -1: as many as the context has room for
  int64_t min_tokens = 0;   // before which no end-of-generation or stop token is taken
  int32_t num_answers = 1;  // 1..128, answer i drawn with seed + i
  int32_t best_of = 0;      // answers computed, of which the num_answers likeliest are kept; 0: num_answers
  BeamSearchParams beam;
  std::vector<int32_t> stop_token_ids;
  // What each answer is held to; null: nothing. An answer ends where the grammar allows no more; before min_tokens too.
  // Not together with a beam search.
  GrammarPtr grammar;
  bool ignore_eos = false;  // go on after end-of-generation tokens
  int32_t prompt_logprobs =
      -1;  // 0..20: tell the log probability of each prompt token and of so many likeliest; -1: no
  bool use_prefix_cache = true;  // false: neither read nor shared with requests that do the same

  int32_t priority = 0;  // lower runs first
  int32_t tenant = 0;    // index into the engine's tenants
  // Tokens of the cache that its tenant's requests may hold together while it runs: it waits for them, or they give way
  // to one another, and its answers end (kLength) where it alone would hold more. 0: no limit.
  int64_t tenant_tokens = 0;
  std::string cache_salt;  // prefixes are shared only with requests of the same salt
  int64_t max_unread = 0;  // token events that wait for their reader before the request gets no more steps; 0: as set
  double timeout_s = std::numeric_limits<double>::infinity();  // from submission; what there is then is the answer
  double ttft_objective_s = std::numeric_limits<double>::infinity();  // of the first token, from submission
  double tpot_objective_s = std::numeric_limits<double>::infinity();  // of each token after
};

enum class FinishReason : uint8_t {
  kStop,       // an end-of-generation or stop token, or the end of the grammar
  kLength,     // max_tokens or the context length reached
  kCancelled,  // the client said so, or went
  kDeadline,   // timeout_s passed
  kError,      // see Event::status
};
const char* FinishReasonName(FinishReason reason);

// A token and the natural logarithm of its probability.
struct TokenLogprob {
  int32_t id = 0;
  double logprob = 0;
};

// What one answer has cost and how it ended.
struct AnswerStats {
  FinishReason reason = FinishReason::kStop;
  int32_t stop_token = -1;  // that ended it, for kStop; -1 at the end of the grammar
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;        // of the prompt, found in the cache
  int64_t output_tokens = 0;        // the token that ended it included
  double cumulative_logprob = 0.0;  // of the output, as the sampler tells it; NaN without log probabilities
  double score = 0.0;               // of a beam search
  int64_t num_preemptions = 0;
  int64_t num_chunks = 0;            // steps that the prompt took
  double queue_seconds = 0.0;        // from submission to the first step
  double first_token_seconds = 0.0;  // from submission to the first token
  double total_seconds = 0.0;        // from submission to the end
};

// Something that happened to a request.
struct Event {
  enum class Kind : uint8_t {
    kToken,        // an answer has got a token
    kPromptToken,  // the log probability of a prompt token (GenerationRequest::prompt_logprobs)
    kFinished,     // an answer has ended
    kDone,         // all have; the last event, unless kError is
    kError,        // the request has failed; the last event
  };
  Kind kind = Kind::kDone;
  int32_t answer = 0;                  // 0..num_answers-1
  int32_t token = 0;                   // kToken, kPromptToken
  bool ends_answer = false;            // kToken: the model's end-of-generation or a stop token, no part of the text
  double logprob = 0.0;                // natural; NaN when none was asked for, and of the first prompt token
  std::vector<TokenLogprob> top;       // likeliest tokens at that place
  std::unique_ptr<AnswerStats> stats;  // kFinished
  Status status;                       // kError
};

}  // namespace adit

#endif  // ADIT_REQUEST_H_
