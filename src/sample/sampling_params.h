#ifndef ADIT_SAMPLE_SAMPLING_PARAMS_H_
#define ADIT_SAMPLE_SAMPLING_PARAMS_H_

#include <cstdint>

#include "adit/sampling_params.h"
#include "adit/status.h"

namespace adit::sample {

using adit::LogitBias;
using adit::SamplingParams;

// At such temperatures a difference of one unit in the last place of a logit near 100 already decides.
inline constexpr double kGreedyTemperature = 1e-5;
inline constexpr int64_t kMaxLogitBiases = 1024;
inline constexpr int64_t kMaxBadWords = 1024;
inline constexpr int64_t kMaxBadWordTokens = 256;
inline constexpr int64_t kMaxDryBreakerSequences = 16'384;
inline constexpr int64_t kMaxDryBreakerTokens = 64;
inline constexpr int64_t kMaxNgramSize = 64;

// Bounds that a deployment may set.
struct SamplingLimits {
  double max_temperature = 2.0;
  int32_t max_top_logprobs = 20;
};

// InvalidArgument, naming the field, its value and its range, when a field is outside its range or not a number.
Status Validate(const SamplingParams& params, int64_t vocab_size, const SamplingLimits& limits = {});

// True when a step of the chain leaves one token at every position: the best of those that the steps before it leave.
// Precondition: params are valid.
bool IsGreedy(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_SAMPLING_PARAMS_H_
