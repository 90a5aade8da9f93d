#include "sample/crossing.h"

#include <algorithm>
#include <array>

#include "sample/softmax.h"

namespace adit::sample {
namespace {

double SumWeights(std::span<const Ranked> ranked, std::span<const float> logits, float max) {
  constexpr size_t kChunk = 256;
  std::array<float, kChunk> gathered;
  double sum = 0;
  for (size_t begin = 0; begin < ranked.size(); begin += kChunk) {
    const std::span<const Ranked> chunk = ranked.subspan(begin, std::min(kChunk, ranked.size() - begin));
    for (size_t i = 0; i < chunk.size(); ++i) gathered[i] = logits[static_cast<size_t>(chunk[i].index)];
    sum += SumExp(std::span(gathered).first(chunk.size()), max);
  }
  return sum;
}

}  // namespace

Ranked FindCrossing(std::span<Ranked> ranked, std::span<const float> logits, float max, double reached, double goal) {
  while (ranked.size() > 1) {
    const size_t half = ranked.size() / 2;
    std::nth_element(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(half), ranked.end(), RanksBefore);
    const double upper = SumWeights(ranked.first(half), logits, max);
    if (reached + upper >= goal) {
      ranked = ranked.first(half);
    } else {
      reached += upper;
      ranked = ranked.subspan(half);
    }
  }
  return ranked.front();
}

}  // namespace adit::sample
