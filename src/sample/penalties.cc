#include "sample/penalties.h"

#include <algorithm>
#include <limits>

namespace adit::sample {
namespace {

using TokenIds = std::span<const int32_t>;

TokenIds LastOf(TokenIds tokens, int64_t n) {
  return n < static_cast<int64_t>(tokens.size()) ? tokens.last(static_cast<size_t>(n)) : tokens;
}

class Penalties final : public Processor {
 public:
  explicit Penalties(const SamplingParams& params)
      : repetition_(params.repetition_penalty),
        repeat_last_n_(params.repeat_last_n < 0 ? std::numeric_limits<int64_t>::max() : params.repeat_last_n),
        presence_(params.presence_penalty),
        frequency_(params.frequency_penalty) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    const std::span<int32_t> row_counts = context.scratch.CountsFor(candidates.vocab_size());
    if (repetition_ != 1 && repeat_last_n_ > 0) {
      const TokenIds output = LastOf(context.output, repeat_last_n_);
      const TokenIds prompt = LastOf(context.prompt, repeat_last_n_ - static_cast<int64_t>(output.size()));
      Count(prompt, row_counts);
      Count(output, row_counts);
      PenaliseCounted(prompt, row_counts, candidates, &Penalties::Repeated);
      PenaliseCounted(output, row_counts, candidates, &Penalties::Repeated);
    }
    if (presence_ != 0 || frequency_ != 0) {
      Count(context.output, row_counts);
      PenaliseCounted(context.output, row_counts, candidates, &Penalties::Present);
    }
  }

  bool KeepsBest() const override { return false; }

 private:
  using Penalty = double (Penalties::*)(double logit, int32_t count) const;

  static bool IsId(int32_t token, std::span<const int32_t> counts) {
    return token >= 0 && static_cast<size_t>(token) < counts.size();
  }

  static void Count(TokenIds tokens, std::span<int32_t> counts) {
    for (const int32_t token : tokens) {
      if (IsId(token, counts)) ++counts[static_cast<size_t>(token)];
    }
  }

  // Applies the penalty once to each distinct token, whose count becomes 0.
  void PenaliseCounted(TokenIds tokens, std::span<int32_t> counts, Candidates& candidates, Penalty penalty) const {
    for (const int32_t token : tokens) {
      if (!IsId(token, counts) || counts[static_cast<size_t>(token)] == 0) continue;
      const int32_t count = counts[static_cast<size_t>(token)];
      counts[static_cast<size_t>(token)] = 0;
      const int64_t index = candidates.Find(token);
      if (index < 0) continue;
      float& logit = candidates.logits()[static_cast<size_t>(index)];
      if (CanBePicked(logit)) logit = ToFinite((this->*penalty)(logit, count));
    }
  }

  double Repeated(double logit, int32_t) const { return logit > 0 ? logit / repetition_ : logit * repetition_; }
  double Present(double logit, int32_t count) const { return logit - presence_ - frequency_ * count; }

  const double repetition_;
  const int64_t repeat_last_n_;
  const double presence_;
  const double frequency_;
};

}  // namespace

std::unique_ptr<Processor> MakePenalties(const SamplingParams& params) {
  const bool repetition = params.repetition_penalty != 1 && params.repeat_last_n != 0;
  if (!repetition && params.presence_penalty == 0 && params.frequency_penalty == 0) return nullptr;
  return std::make_unique<Penalties>(params);
}

}  // namespace adit::sample
