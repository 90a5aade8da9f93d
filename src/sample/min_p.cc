#include "sample/min_p.h"

#include <cmath>

#include "sample/softmax.h"

namespace adit::sample {
namespace {

class MinP final : public Processor {
 public:
  explicit MinP(double min_p) : log_min_p_(std::log(min_p)) {}

  void Apply(const SampleContext&, Candidates& candidates) const override {
    // Rounded to float32 like the logits, so that a token at exactly min_p stays.
    const auto threshold = static_cast<float>(MaxLogit(candidates.logits()) + log_min_p_);
    candidates.Keep({threshold, candidates.size()});
  }

  bool KeepsBest() const override { return true; }

 private:
  const double log_min_p_;
};

}  // namespace

std::unique_ptr<Processor> MakeMinP(const SamplingParams& params) {
  if (params.min_p == 0) return nullptr;
  return std::make_unique<MinP>(params.min_p);
}

}  // namespace adit::sample
