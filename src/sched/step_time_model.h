#ifndef ADIT_SCHED_STEP_TIME_MODEL_H_
#define ADIT_SCHED_STEP_TIME_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace adit::sched {

// What a step does, as far as its time depends on it.
struct StepLoad {
  int64_t prefill_tokens = 0;  // rows of prompts
  int64_t decodes = 0;         // rows of sequences that are past their prompt
  int64_t context_tokens = 0;  // cached positions that the rows attend to, summed over sequences
};

// Predicts how long a step takes, learnt from the steps that ran:
//   seconds = base + a * prefill_tokens + b * decodes + c * context_tokens, none of the four below 0,
// by least squares over past steps, the older the less weight, so that it follows a machine that grows busier. Where
// steps have been so alike that they tell the terms apart no longer, the terms stay what they were. Deterministic in
// what it is told. Constant time and no allocation.
class StepTimeModel {
 public:
  StepTimeModel();

  void Observe(const StepLoad& load, double seconds);

  double Predict(const StepLoad& load) const;
  // Most prefill tokens beside the rest of `load` within `seconds`; may be 0 or below.
  double PrefillTokensWithin(const StepLoad& load, double seconds) const;
  // What one more token of a prompt, and one more decoding sequence, adds to a step; above 0.
  double SecondsPerPrefillToken() const;
  double SecondsPerDecode() const;

 private:
  static constexpr size_t kTerms = 4;
  using Vector = std::array<double, kTerms>;
  static Vector Features(const StepLoad& load);

  // In units that make the terms of a usual step alike in size (Features).
  Vector weights_;
  std::array<Vector, kTerms> products_ = {};  // decayed sum of features * features
  Vector responses_ = {};                     // decayed sum of features * seconds
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_STEP_TIME_MODEL_H_
