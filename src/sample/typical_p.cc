#include "sample/typical_p.h"

#include <cmath>

#include "sample/crossing.h"
#include "sample/entropy.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

class TypicalP final : public Processor {
 public:
  explicit TypicalP(double p) : p_(p) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    const std::span<const float> logits = candidates.logits();
    const Entropy entropy = FindEntropy(logits);
    // The surprise is max + log_sum - logit: it equals the entropy at this logit, and differs by the distance from it.
    const double typical = entropy.max + entropy.log_sum - entropy.nats;
    const auto typicality = [&](float logit) { return static_cast<float>(-std::fabs(logit - typical)); };

    std::vector<Ranked>& ranked = context.scratch.ranked;
    ranked.clear();
    ranked.reserve(logits.size());
    for (size_t i = 0; i < logits.size(); ++i) {
      if (CanBePicked(logits[i])) ranked.push_back({typicality(logits[i]), static_cast<int64_t>(i)});
    }
    const Ranked last = FindCrossing(ranked, logits, entropy.max, 0, p_ * SumExp(logits, entropy.max));
    candidates.KeepWhere([&](const Ranked& candidate) {
      return CanBePicked(candidate.logit) && !RanksBefore(last, {typicality(candidate.logit), candidate.index});
    });
  }

  bool KeepsBest() const override { return false; }

 private:
  const double p_;
};

}  // namespace

std::unique_ptr<Processor> MakeTypicalP(const SamplingParams& params) {
  if (params.typical_p >= 1) return nullptr;
  return std::make_unique<TypicalP>(params.typical_p);
}

}  // namespace adit::sample
