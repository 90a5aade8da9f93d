#include "sched/step_time_model.h"

#include <algorithm>

namespace adit::sched {
namespace {

// One feature for each term, scaled so that all are near 1 in a busy step.
constexpr double kPrefillUnit = 1.0 / 256.0;
constexpr double kDecodeUnit = 1.0 / 16.0;
constexpr double kContextUnit = 1.0 / 16384.0;

// A step of 50 ago weighs 0.6 of the last: a few seconds of decoding.
constexpr double kForget = 0.99;
// Weight of "stay what you were" beside a step's 1.
constexpr double kStay = 1e-2;
// Rounds of coordinate descent; each starts where the last step's ended.
constexpr int kSweeps = 20;

// Before anything was seen: a small model on a small machine.
constexpr double kFirstBase = 2e-3;
constexpr double kFirstPrefill = 1e-3;
constexpr double kFirstDecode = 2e-3;

constexpr double kLeastSeconds = 1e-9;

}  // namespace

StepTimeModel::StepTimeModel() : weights_{kFirstBase, kFirstPrefill / kPrefillUnit, kFirstDecode / kDecodeUnit, 0.0} {}

StepTimeModel::Vector StepTimeModel::Features(const StepLoad& load) {
  return {1.0, static_cast<double>(load.prefill_tokens) * kPrefillUnit, static_cast<double>(load.decodes) * kDecodeUnit,
          static_cast<double>(load.context_tokens) * kContextUnit};
}

void StepTimeModel::Observe(const StepLoad& load, double seconds) {
  const Vector x = Features(load);
  for (size_t i = 0; i < kTerms; ++i) {
    for (size_t j = 0; j < kTerms; ++j) products_[i][j] = kForget * products_[i][j] + x[i] * x[j];
    responses_[i] = kForget * responses_[i] + x[i] * seconds;
  }
  const Vector before = weights_;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 0; i < kTerms; ++i) {
      double rest = responses_[i] + kStay * before[i];
      for (size_t j = 0; j < kTerms; ++j) {
        if (j != i) rest -= products_[i][j] * weights_[j];
      }
      weights_[i] = std::max(0.0, rest / (products_[i][i] + kStay));
    }
  }
}

double StepTimeModel::Predict(const StepLoad& load) const {
  const Vector x = Features(load);
  double seconds = 0.0;
  for (size_t i = 0; i < kTerms; ++i) seconds += weights_[i] * x[i];
  return seconds;
}

double StepTimeModel::PrefillTokensWithin(const StepLoad& load, double seconds) const {
  return (seconds - Predict({.decodes = load.decodes, .context_tokens = load.context_tokens})) /
         SecondsPerPrefillToken();
}

double StepTimeModel::SecondsPerPrefillToken() const { return std::max(weights_[1] * kPrefillUnit, kLeastSeconds); }
double StepTimeModel::SecondsPerDecode() const { return std::max(weights_[2] * kDecodeUnit, kLeastSeconds); }

}  // namespace adit::sched
