#include "sample/entropy.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sample/candidates.h"
#include "sample/softmax.h"

namespace adit::sample {

Entropy FindEntropy(std::span<const float> logits) {
  constexpr size_t kChunk = 256;
  Entropy result{.max = MaxLogit(logits)};
  std::array<float, kChunk> weights;
  double sum = 0;
  double weighted = 0;  // by the distance from the best
  for (size_t begin = 0; begin < logits.size(); begin += kChunk) {
    const std::span<const float> chunk = logits.subspan(begin, std::min(kChunk, logits.size() - begin));
    ExpWeights(chunk, result.max, std::span(weights).first(chunk.size()));
    for (size_t i = 0; i < chunk.size(); ++i) {
      result.num_pickable += CanBePicked(chunk[i]) ? 1 : 0;
      if (weights[i] == 0) continue;  // 0 times infinity would be no number
      sum += weights[i];
      weighted += static_cast<double>(weights[i]) * (static_cast<double>(result.max) - chunk[i]);
    }
  }
  result.log_sum = std::log(sum);
  result.nats = result.log_sum + weighted / sum;
  return result;
}

}  // namespace adit::sample
