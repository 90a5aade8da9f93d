#ifndef ADIT_ENGINE_GENERATOR_H_
#define ADIT_ENGINE_GENERATOR_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "adit/status.h"
#include "engine/model_runner.h"
#include "engine/request.h"
#include "sample/sampler.h"

namespace adit::engine {

struct GenerateOptions {
  sample::SamplingParams sampling;
  int64_t max_tokens = -1;     // -1: until the context is full
  int64_t context_length = 0;  // prompt and answer together
  bool ignore_eos = false;     // go on after end-of-generation tokens
};

struct GenerateStats {
  FinishReason reason = FinishReason::kStop;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;     // of the prompt, already in the cache
  int64_t generated_tokens = 0;  // the end-of-generation token included
  double prefill_seconds = 0.0;  // to the first logits
  double decode_seconds = 0.0;   // of the passes after
};

// Generates for one sequence that may grow over several turns: what a prompt shares with the tokens already seen is not
// computed again. Used by one thread.
class Generator {
 public:
  explicit Generator(ModelRunner& runner);

  // Feeds `prompt` and samples until an end. on_token is called with each token as it is chosen (not with the one that
  // ends the generation) and returns whether to go on; `cancelled` is asked between passes. InvalidArgument when the
  // prompt is empty or does not fit the context, with both numbers; then nothing has been run.
  Result<GenerateStats> Generate(std::span<const int32_t> prompt, const GenerateOptions& options,
                                 const std::function<bool(const sample::SampledToken&)>& on_token,
                                 const std::function<bool()>& cancelled);

  // Tokens in the cache.
  std::span<const int32_t> tokens() const { return tokens_; }

 private:
  // Runs `tokens` in chunks; the logits of the last one, empty when cancelled in between.
  Result<std::span<const float>> Prefill(std::span<const int32_t> tokens, const std::function<bool()>& cancelled);
  bool EndsGeneration(int32_t token) const;

  ModelRunner& runner_;
  SequenceCache sequence_;
  std::vector<int32_t> tokens_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_GENERATOR_H_
