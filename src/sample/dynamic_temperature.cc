#include "sample/dynamic_temperature.h"

#include <algorithm>
#include <cmath>

#include "sample/entropy.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

class DynamicTemperature final : public Processor {
 public:
  explicit DynamicTemperature(const SamplingParams& params)
      : low_(std::max(0.0, params.temperature - params.dynatemp_range)),
        high_(params.temperature + params.dynatemp_range),
        exponent_(params.dynatemp_exponent) {}

  void Apply(const SampleContext&, Candidates& candidates) const override {
    const Entropy entropy = FindEntropy(candidates.logits());
    if (entropy.num_pickable < 2) return;
    const double share = entropy.nats / std::log(static_cast<double>(entropy.num_pickable));
    const double temperature = low_ + (high_ - low_) * std::pow(std::clamp(share, 0.0, 1.0), exponent_);
    if (temperature < kGreedyTemperature) {
      candidates.Keep({entropy.max, FindBest(candidates.logits()).index});
      return;
    }
    const auto inverse = static_cast<float>(1.0 / temperature);
    for (float& logit : candidates.logits()) logit = (logit - entropy.max) * inverse;
  }

  bool KeepsBest() const override { return true; }

 private:
  const double low_;
  const double high_;
  const double exponent_;
};

}  // namespace

std::unique_ptr<Processor> MakeDynamicTemperature(const SamplingParams& params) {
  if (params.dynatemp_range == 0) return nullptr;
  return std::make_unique<DynamicTemperature>(params);
}

}  // namespace adit::sample
