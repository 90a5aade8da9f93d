#include "sample/draw.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "sample/softmax.h"

namespace adit::sample {
namespace {

// The row is summed block by block, so that the walk to the drawn index takes single steps inside one block only.
constexpr size_t kBlock = 1024;

std::span<const float> BlockAt(std::span<const float> logits, size_t begin) {
  return logits.subspan(begin, std::min(kBlock, logits.size() - begin));
}

}  // namespace

int64_t DrawIndex(std::span<const float> logits, double uniform) {
  const BestLogit best = FindBest(logits);
  ADIT_DCHECK(best.index >= 0);
  double total = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kBlock) total += SumExp(BlockAt(logits, begin), best.logit);
  const double goal = uniform * total;

  // Rounding may carry the walk past a block's last weight or the row's; then the next weight, or the last, is meant.
  int64_t drawn = best.index;
  double sum = 0;
  for (size_t begin = 0; begin < logits.size(); begin += kBlock) {
    const std::span<const float> block = BlockAt(logits, begin);
    const double block_sum = SumExp(block, best.logit);
    if (sum + block_sum <= goal) {
      sum += block_sum;
      continue;
    }
    std::array<float, kBlock> weights;
    ExpWeights(block, best.logit, std::span(weights).first(block.size()));
    for (size_t i = 0; i < block.size(); ++i) {
      if (weights[i] == 0) continue;
      drawn = static_cast<int64_t>(begin + i);
      sum += weights[i];
      if (sum > goal) return drawn;
    }
  }
  return drawn;
}

}  // namespace adit::sample
