#ifndef ADIT_SAMPLE_CROSSING_H_
#define ADIT_SAMPLE_CROSSING_H_

#include <span>

#include "sample/candidates.h"

namespace adit::sample {

// The first of `ranked`, in the order of RanksBefore, at which the running sum of the weights exp(logits[index] - max),
// `reached` before it, is not below `goal`; the last where rounding keeps the sum below. Halves the range around its
// median until one is left, so takes linear time. Reorders `ranked`. Preconditions: it is not empty; what it ranks by
// need not be the logit.
Ranked FindCrossing(std::span<Ranked> ranked, std::span<const float> logits, float max, double reached, double goal);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_CROSSING_H_
