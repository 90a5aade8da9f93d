#include "sample/sampling_params.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "base/error.h"
#include "sample/chain.h"

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

// A number without an upper end; with `open`, low itself is refused.
Status CheckFrom(const char* field, double value, double low, bool open = false) {
  if (std::isfinite(value) && (open ? value > low : value >= low)) return Status();
  return InvalidArgument("{}: {} is not a finite number {} {}", field, value, open ? "above" : "from", low);
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

Status CheckTokenIds(const char* field, std::span<const int32_t> ids, int64_t vocab_size) {
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab_size) {
      return InvalidArgument("{}: token id {} is not in 0..{}", field, id, vocab_size - 1);
    }
  }
  return Status();
}

// A set of tokens; more than vocab_size of them cannot be distinct.
Status CheckTokenSet(const char* field, std::span<const int32_t> ids, int64_t vocab_size) {
  if (static_cast<int64_t>(ids.size()) > vocab_size) {
    return InvalidArgument("{}: {} token ids, at most {} are taken", field, ids.size(), vocab_size);
  }
  return CheckTokenIds(field, ids, vocab_size);
}

struct SequenceLimits {
  int64_t max_sequences;
  int64_t max_tokens;
};

Status CheckSequences(const char* field, std::span<const std::vector<int32_t>> sequences, int64_t vocab_size,
                      SequenceLimits limits) {
  if (static_cast<int64_t>(sequences.size()) > limits.max_sequences) {
    return InvalidArgument("{}: {} sequences, at most {} are taken", field, sequences.size(), limits.max_sequences);
  }
  for (const std::vector<int32_t>& sequence : sequences) {
    if (sequence.empty() || static_cast<int64_t>(sequence.size()) > limits.max_tokens) {
      return InvalidArgument("{}: a sequence of {} tokens, the length is not in 1..{}", field, sequence.size(),
                             limits.max_tokens);
    }
    ADIT_RETURN_IF_ERROR(CheckTokenIds(field, sequence, vocab_size));
  }
  return Status();
}

Status CheckBans(const SamplingParams& params, int64_t vocab_size) {
  ADIT_RETURN_IF_ERROR(CheckLogitBias(params.logit_bias, vocab_size));
  ADIT_RETURN_IF_ERROR(CheckTokenSet("allowed_token_ids", params.allowed_token_ids, vocab_size));
  ADIT_RETURN_IF_ERROR(CheckSequences("bad_words", params.bad_words, vocab_size, {kMaxBadWords, kMaxBadWordTokens}));
  return CheckInteger("no_repeat_ngram_size", params.no_repeat_ngram_size, 0, kMaxNgramSize);
}

Status CheckDry(const SamplingParams& params, int64_t vocab_size) {
  ADIT_RETURN_IF_ERROR(CheckFrom("dry_multiplier", params.dry_multiplier, 0));
  ADIT_RETURN_IF_ERROR(CheckFrom("dry_base", params.dry_base, 1, true));
  ADIT_RETURN_IF_ERROR(CheckInteger("dry_allowed_length", params.dry_allowed_length, 0, INT32_MAX));
  ADIT_RETURN_IF_ERROR(CheckInteger("dry_penalty_last_n", params.dry_penalty_last_n, -1, INT32_MAX));
  const DryBreakers& breakers = params.dry_sequence_breakers;
  ADIT_RETURN_IF_ERROR(CheckTokenSet("dry_sequence_breakers", breakers.tokens, vocab_size));
  return CheckSequences("dry_sequence_breakers", breakers.sequences, vocab_size,
                        {kMaxDryBreakerSequences, kMaxDryBreakerTokens});
}

// A name as it stands in a message: clients may send anything.
std::string Shown(const std::string& name) {
  constexpr size_t kMaxShown = 40;
  std::string shown = name.substr(0, kMaxShown);
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

Status CheckSamplers(const std::vector<std::string>& samplers) {
  std::vector<const ChainStep*> seen;
  for (const std::string& name : samplers) {
    const ChainStep* step = FindChainStep(name);
    if (step == nullptr) {
      std::string known;
      for (const ChainStep& each : ChainSteps()) known.append(known.empty() ? "" : ", ").append(each.name);
      return InvalidArgument("samplers: '{}' is not one of {}", Shown(name), known);
    }
    if (std::find(seen.begin(), seen.end(), step) != seen.end()) {
      return InvalidArgument("samplers: '{}' stands more than once", name);
    }
    seen.push_back(step);
  }
  return Status();
}

}  // namespace

Status Validate(const SamplingParams& params, int64_t vocab_size, const SamplingLimits& limits) {
  ADIT_RETURN_IF_ERROR(CheckInteger("vocab_size", vocab_size, 1, INT32_MAX));
  ADIT_RETURN_IF_ERROR(CheckBans(params, vocab_size));
  ADIT_RETURN_IF_ERROR(CheckReal("repetition_penalty", params.repetition_penalty, {0, 10, true}));
  ADIT_RETURN_IF_ERROR(CheckInteger("repeat_last_n", params.repeat_last_n, -1, INT32_MAX));
  ADIT_RETURN_IF_ERROR(CheckReal("presence_penalty", params.presence_penalty, {-2, 2}));
  ADIT_RETURN_IF_ERROR(CheckReal("frequency_penalty", params.frequency_penalty, {-2, 2}));
  ADIT_RETURN_IF_ERROR(CheckDry(params, vocab_size));
  if (!std::isfinite(params.top_n_sigma)) {
    return InvalidArgument("top_n_sigma: {} is not a finite number", params.top_n_sigma);
  }
  ADIT_RETURN_IF_ERROR(CheckInteger("top_k", params.top_k, -1, vocab_size));
  ADIT_RETURN_IF_ERROR(CheckReal("typical_p", params.typical_p, {0, 1, true}));
  ADIT_RETURN_IF_ERROR(CheckReal("top_p", params.top_p, {0, 1}));
  ADIT_RETURN_IF_ERROR(CheckReal("min_p", params.min_p, {0, 1}));
  ADIT_RETURN_IF_ERROR(CheckReal("xtc_probability", params.xtc_probability, {0, 1}));
  ADIT_RETURN_IF_ERROR(CheckReal("xtc_threshold", params.xtc_threshold, {0, 1}));
  ADIT_RETURN_IF_ERROR(CheckReal("temperature", params.temperature, {0, limits.max_temperature}));
  ADIT_RETURN_IF_ERROR(CheckFrom("dynatemp_range", params.dynatemp_range, 0));
  ADIT_RETURN_IF_ERROR(CheckFrom("dynatemp_exponent", params.dynatemp_exponent, 0));
  if (params.samplers) ADIT_RETURN_IF_ERROR(CheckSamplers(*params.samplers));
  ADIT_RETURN_IF_ERROR(CheckInteger("mirostat", params.mirostat, 0, 2));
  ADIT_RETURN_IF_ERROR(CheckFrom("mirostat_tau", params.mirostat_tau, 0, true));
  ADIT_RETURN_IF_ERROR(CheckReal("mirostat_eta", params.mirostat_eta, {0, 1, true}));
  return CheckInteger("top_logprobs", params.top_logprobs, -1, limits.max_top_logprobs);
}

bool IsGreedy(const SamplingParams& params) {
  const std::vector<const ChainStep*> chain = ChainOf(params);
  return std::any_of(chain.begin(), chain.end(),
                     [&](const ChainStep* step) { return step->leaves_one != nullptr && step->leaves_one(params); });
}

}  // namespace adit::sample
