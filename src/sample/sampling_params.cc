#include "sample/sampling_params.h"

#include <cmath>

#include "base/error.h"

namespace adit::sample {
namespace {

struct Range {
  double low;
  double high;
  bool open_low = false;
};

Status CheckReal(const char* field, double value, Range range) {
  const bool above = range.open_low ? value > range.low : value >= range.low;
  if (above && value <= range.high) return Status();  // false for NaN
  return InvalidArgument("{}: {} is not in {}{}, {}]", field, value, range.open_low ? '(' : '[', range.low, range.high);
}

Status CheckInteger(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return Status();
  return InvalidArgument("{}: {} is not in {}..{}", field, value, low, high);
}

Status CheckLogitBias(const std::vector<LogitBias>& biases, int64_t vocab_size) {
  if (static_cast<int64_t>(biases.size()) > kMaxLogitBiases) {
    return InvalidArgument("logit_bias: {} entries, at most {} are taken", biases.size(), kMaxLogitBiases);
  }
  for (const LogitBias& entry : biases) {
    if (entry.token_id < 0 || entry.token_id >= vocab_size) {
      return InvalidArgument("logit_bias: token id {} is not in 0..{}", entry.token_id, vocab_size - 1);
    }
    const bool ban = std::isinf(entry.bias) && entry.bias < 0;
    if (!ban && !(std::fabs(entry.bias) <= 100.0)) {
      return InvalidArgument("logit_bias: bias {} of token id {} is not in [-100, 100] and no ban (-inf)", entry.bias,
                             entry.token_id);
    }
  }
  return Status();
}

}  // namespace

Status Validate(const SamplingParams& params, int64_t vocab_size, const SamplingLimits& limits) {
  ADIT_RETURN_IF_ERROR(CheckInteger("vocab_size", vocab_size, 1, INT32_MAX));
  ADIT_RETURN_IF_ERROR(CheckLogitBias(params.logit_bias, vocab_size));
  ADIT_RETURN_IF_ERROR(CheckReal("repetition_penalty", params.repetition_penalty, {0, 10, true}));
  ADIT_RETURN_IF_ERROR(CheckInteger("repeat_last_n", params.repeat_last_n, -1, INT32_MAX));
  ADIT_RETURN_IF_ERROR(CheckReal("presence_penalty", params.presence_penalty, {-2, 2}));
  ADIT_RETURN_IF_ERROR(CheckReal("frequency_penalty", params.frequency_penalty, {-2, 2}));
  ADIT_RETURN_IF_ERROR(CheckInteger("top_k", params.top_k, -1, vocab_size));
  ADIT_RETURN_IF_ERROR(CheckReal("top_p", params.top_p, {0, 1}));
  ADIT_RETURN_IF_ERROR(CheckReal("min_p", params.min_p, {0, 1}));
  ADIT_RETURN_IF_ERROR(CheckReal("temperature", params.temperature, {0, limits.max_temperature}));
  return CheckInteger("top_logprobs", params.top_logprobs, -1, limits.max_top_logprobs);
}

bool IsGreedy(const SamplingParams& params) {
  return params.temperature < kGreedyTemperature || params.top_k == 1 || params.top_p == 0;
}

}  // namespace adit::sample
