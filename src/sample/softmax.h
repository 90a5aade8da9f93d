#ifndef ADIT_SAMPLE_SOFTMAX_H_
#define ADIT_SAMPLE_SOFTMAX_H_

#include <cstdint>
#include <span>

// Passes over one row of logits. A logit that is NaN or -inf stands for a token that cannot be picked: its weight is 0.
// Every sum is a double and is added in an order that depends on the row's length alone, so equal rows give equal bits.
namespace adit::sample {

// The largest logit; -inf when none can be picked.
float MaxLogit(std::span<const float> logits);

// The largest logit and where it first stands; index -1 when all are NaN or -inf.
struct BestLogit {
  float logit = 0;
  int64_t index = -1;
};
BestLogit FindBest(std::span<const float> logits);

// weights[i] = exp(d), d = logits[i] - max: exactly 1 where d is 0, 0 where d < -87, elsewhere with a relative error
// below 6e-7 + 7.5e-8 * |d|. Preconditions: max is finite and no logit is above it; weights has the size of logits.
void ExpWeights(std::span<const float> logits, float max, std::span<float> weights);

// The sum of those weights; adding them up makes the relative error larger by less than 5e-7.
double SumExp(std::span<const float> logits, float max);

// log softmax of a row in natural logarithms. Where the row holds +inf, those tokens share the probability evenly.
class LogSoftmax {
 public:
  // Precondition: `best` is FindBest(logits) and has an index.
  LogSoftmax(std::span<const float> logits, BestLogit best);

  // At most 0; -inf where the token cannot be picked.
  double operator()(float logit) const;

 private:
  float max_;
  double log_sum_;  // of the weights; where max_ is +inf, of the number of tokens that have it
};

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_SOFTMAX_H_
