#include "sample/temperature.h"

#include "sample/dynamic_temperature.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

class Temperature final : public Processor {
 public:
  explicit Temperature(double temperature) : inverse_(static_cast<float>(1.0 / temperature)) {}

  void Apply(const SampleContext&, Candidates& candidates) const override {
    const float max = MaxLogit(candidates.logits());
    for (float& logit : candidates.logits()) logit = (logit - max) * inverse_;
  }

  bool KeepsBest() const override { return true; }

 private:
  const float inverse_;
};

}  // namespace

std::unique_ptr<Processor> MakeTemperature(const SamplingParams& params) {
  if (params.dynatemp_range > 0) return MakeDynamicTemperature(params);
  if (params.temperature == 1) return nullptr;
  return std::make_unique<Temperature>(params.temperature);
}

}  // namespace adit::sample
