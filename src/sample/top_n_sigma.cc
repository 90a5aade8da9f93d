#include "sample/top_n_sigma.h"

#include <cmath>

#include "sample/softmax.h"

namespace adit::sample {
namespace {

// Four sums side by side, so that an addition need not wait for the one before it. f(logit) of those that can be
// picked.
template <typename F>
double SumPickable(std::span<const float> logits, const F& f) {
  double sums[4] = {};
  for (size_t i = 0; i < logits.size(); ++i) sums[i % 4] += CanBePicked(logits[i]) ? f(logits[i]) : 0.0;
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double StandardDeviation(std::span<const float> logits) {
  const double count = SumPickable(logits, [](float) { return 1.0; });
  const double mean = SumPickable(logits, [](float logit) { return static_cast<double>(logit); }) / count;
  const double squares = SumPickable(logits, [&](float logit) { return (logit - mean) * (logit - mean); });
  return std::sqrt(squares / count);
}

class TopNSigma final : public Processor {
 public:
  explicit TopNSigma(double n) : n_(n) {}

  void Apply(const SampleContext&, Candidates& candidates) const override {
    const std::span<const float> logits = candidates.logits();
    // Rounded to float32 like the logits, so that a token at exactly n sigma stays.
    const float threshold = ToFinite(MaxLogit(logits) - n_ * StandardDeviation(logits));
    candidates.Keep({threshold, candidates.size()});
  }

  bool KeepsBest() const override { return true; }

 private:
  const double n_;
};

}  // namespace

std::unique_ptr<Processor> MakeTopNSigma(const SamplingParams& params) {
  if (params.top_n_sigma <= 0) return nullptr;
  return std::make_unique<TopNSigma>(params.top_n_sigma);
}

}  // namespace adit::sample
