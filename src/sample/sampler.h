#ifndef ADIT_SAMPLE_SAMPLER_H_
#define ADIT_SAMPLE_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "adit/request.h"
#include "adit/status.h"
#include "sample/mirostat.h"
#include "sample/processor.h"
#include "sample/sampling_params.h"
#include "sample/softmax.h"

namespace adit::sample {

using adit::TokenLogprob;

// A token and what the model thought of it. Log probabilities are natural logarithms of the softmax of the model's own
// logits, before bias, penalties and temperature; they are finite and at most 0.
struct SampledToken {
  int32_t id = 0;
  double logprob = 0;  // NaN when top_logprobs is -1
  // The model's most likely tokens, falling, equal ones by id; the sampled one may or may not be among them.
  // top_logprobs of them, fewer when fewer have a probability above 0. Valid until the sampler's next call.
  std::span<const TokenLogprob> top;
  SamplerState state;  // for the call that samples the token after this one
};

// Turns rows of logits into tokens as one request's SamplingParams say. Has no memory of earlier calls: the token is a
// function of the parameters, the row, the history, the position and the state that the caller carries from token to
// token, whatever else was sampled, when and by whom.
// Movable. One thread at a time; samplers that share a scratch are used by one thread at a time together.
class Sampler {
 public:
  // `scratch` is borrowed and outlives the sampler: samplers that take turns may share one, which holds some 4 MiB for
  // a vocabulary of 262,144. Null: the sampler has its own. Errors: those of Validate.
  static Result<Sampler> Create(SamplingParams params, int64_t vocab_size, const SamplingLimits& limits = {},
                                SampleScratch* scratch = nullptr);

  // The token that follows `prompt` and `output`, token ids, given the model's logits for it. `position`, with the
  // seed, chooses the random number: the number of tokens before it, so that a sequence that is computed again draws
  // again what it drew. A NaN or -inf logit means that the token cannot be picked; tokens with +inf share the
  // probability evenly. `state` is that of the SampledToken before, as it was taken; a new one for the first token.
  // Only mirostat reads and changes it. Allocates nothing once a few rows have been sampled, except that DRY and
  // no_repeat_ngram_size need 4 bytes for each token of a history longer than before. `mask`: the tokens that a grammar
  // allows, as Candidates::KeepMask takes them; empty: all. It is the last of the bans, before the chain.
  // InvalidArgument when the row is not vocab_size long, or the bans leave no token; FailedPrecondition when the model
  // leaves none.
  Result<SampledToken> Sample(std::span<const float> logits, std::span<const int32_t> prompt,
                              std::span<const int32_t> output, int64_t position, const SamplerState& state = {},
                              std::span<const uint32_t> mask = {});

  // Works in another scratch from now on, under the same conditions.
  void UseScratch(SampleScratch& scratch) { scratch_ = &scratch; }

  const SamplingParams& params() const { return params_; }
  int64_t vocab_size() const { return vocab_size_; }

 private:
  Sampler(SamplingParams params, int64_t vocab_size, SampleScratch* scratch);

  Result<int32_t> Pick(std::span<const float> logits, BestLogit best, const SampleContext& context,
                       std::span<const uint32_t> mask, SamplerState& state);
  Status ApplyBans(const SampleContext& context, Candidates& candidates) const;
  void FindTop(std::span<const float> logits, const LogSoftmax& log_softmax);

  // Constant after construction.
  SamplingParams params_;
  int64_t vocab_size_;
  bool greedy_ = false;
  std::optional<Mirostat> mirostat_;  // draws in place of the softmax
  struct Ban {
    std::string_view field;
    std::unique_ptr<Processor> step;
  };
  std::vector<Ban> bans_;
  // Of a greedy sampler: without the step that leaves one token, those after it, and those just before it that keep the
  // best.
  std::vector<std::unique_ptr<Processor>> chain_;
  std::unique_ptr<SampleScratch> own_scratch_;
  SampleScratch* scratch_;

  std::vector<TokenLogprob> top_;  // told by the latest call
};

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_SAMPLER_H_
