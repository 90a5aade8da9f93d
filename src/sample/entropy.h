#ifndef ADIT_SAMPLE_ENTROPY_H_
#define ADIT_SAMPLE_ENTROPY_H_

#include <cstdint>
#include <span>

namespace adit::sample {

// What the softmax of a list of logits says as a whole.
struct Entropy {
  double nats = 0;           // -sum p log p
  double log_sum = 0;        // log sum exp(logit - max)
  float max = 0;             // the largest logit
  int64_t num_pickable = 0;  // logits above -inf
};

// Precondition: a logit is finite, none is NaN or +inf.
Entropy FindEntropy(std::span<const float> logits);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_ENTROPY_H_
