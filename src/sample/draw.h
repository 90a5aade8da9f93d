#ifndef ADIT_SAMPLE_DRAW_H_
#define ADIT_SAMPLE_DRAW_H_

#include <cstdint>
#include <span>

namespace adit::sample {

// The index at which the running sum of the softmax of `logits`, taken in the order of indices, first exceeds
// `uniform`: so each index is drawn as often as its probability says when `uniform` is spread evenly over [0, 1). Never
// one whose weight is 0. Preconditions: 0 <= uniform < 1; a logit is finite, none is +inf.
int64_t DrawIndex(std::span<const float> logits, double uniform);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_DRAW_H_
