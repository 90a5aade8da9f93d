#include "sample/xtc.h"

#include <cmath>

#include "base/rng.h"
#include "sample/random_streams.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

class Xtc final : public Processor {
 public:
  explicit Xtc(const SamplingParams& params)
      : probability_(params.xtc_probability),
        log_threshold_(std::log(params.xtc_threshold)),
        seed_(static_cast<uint64_t>(params.seed)) {}

  void Apply(const SampleContext& context, Candidates& candidates) const override {
    if (RandomUniform(seed_, static_cast<uint64_t>(context.position), kXtcStream) >= probability_) return;
    const std::span<const float> logits = candidates.logits();
    const float max = MaxLogit(logits);
    // Rounded to float32 like the logits, so that a token at exactly the threshold counts.
    const auto threshold = static_cast<float>(max + std::log(SumExp(logits, max)) + log_threshold_);
    Ranked last{max, -1};  // of the top choices
    for (size_t i = 0; i < logits.size(); ++i) {
      const Ranked candidate{logits[i], static_cast<int64_t>(i)};
      if (candidate.logit >= threshold && CanBePicked(candidate.logit) && RanksBefore(last, candidate))
        last = candidate;
    }
    if (last.index < 0) return;
    candidates.KeepWhere([&](const Ranked& candidate) { return !RanksBefore(candidate, last); });
  }

  bool KeepsBest() const override { return false; }

 private:
  const double probability_;
  const double log_threshold_;
  const uint64_t seed_;
};

}  // namespace

std::unique_ptr<Processor> MakeXtc(const SamplingParams& params) {
  if (params.xtc_probability <= 0 || params.xtc_threshold > 0.5) return nullptr;
  return std::make_unique<Xtc>(params);
}

}  // namespace adit::sample
