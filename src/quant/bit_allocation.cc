#include "quant/bit_allocation.h"

#include <algorithm>

namespace adit::quant {
namespace {

// The cost that each further byte saves between two choices of one tensor.
double SlopeOf(const TensorChoice& from, const TensorChoice& to) {
  return (from.cost - to.cost) / static_cast<double>(to.bytes - from.bytes);
}

// Choices that are the best of their size for some price of a byte, the smallest first: from each to the next a byte
// saves less than from the one before to it.
std::vector<size_t> LowerHull(const std::vector<TensorChoice>& choices) {
  std::vector<size_t> order(choices.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](size_t a, size_t b) {
    return choices[a].bytes != choices[b].bytes ? choices[a].bytes < choices[b].bytes
                                                : choices[a].cost < choices[b].cost;
  });
  std::vector<size_t> hull;
  for (const size_t i : order) {
    if (!hull.empty() && choices[i].cost >= choices[hull.back()].cost) continue;
    while (hull.size() > 1 &&
           SlopeOf(choices[hull[hull.size() - 2]], choices[hull.back()]) <= SlopeOf(choices[hull.back()], choices[i])) {
      hull.pop_back();
    }
    hull.push_back(i);
  }
  return hull;
}

struct HullStep {
  size_t tensor = 0;
  size_t to = 0;  // place on the tensor's hull
  double slope = 0.0;
  size_t bytes = 0;
};

}  // namespace

std::optional<std::vector<size_t>> AllocateBits(std::span<const std::vector<TensorChoice>> tensors,
                                                size_t budget_bytes) {
  std::vector<std::vector<size_t>> hulls;
  std::vector<HullStep> steps;
  size_t used_bytes = 0;
  for (size_t t = 0; t < tensors.size(); ++t) {
    const std::vector<size_t>& hull = hulls.emplace_back(LowerHull(tensors[t]));
    used_bytes += tensors[t][hull.front()].bytes;
    for (size_t to = 1; to < hull.size(); ++to) {
      const TensorChoice& before = tensors[t][hull[to - 1]];
      const TensorChoice& after = tensors[t][hull[to]];
      steps.push_back({.tensor = t, .to = to, .slope = SlopeOf(before, after), .bytes = after.bytes - before.bytes});
    }
  }
  if (used_bytes > budget_bytes) return std::nullopt;
  // Slopes of one tensor fall, so its steps come in their order.
  std::ranges::stable_sort(steps, std::ranges::greater(), &HullStep::slope);
  std::vector<size_t> places(tensors.size(), 0);
  for (const HullStep& step : steps) {
    // A tensor whose step did not fit stays where it is; steps of others may be smaller.
    if (places[step.tensor] + 1 != step.to || step.bytes > budget_bytes - used_bytes) continue;
    places[step.tensor] = step.to;
    used_bytes += step.bytes;
  }
  std::vector<size_t> chosen;
  for (size_t t = 0; t < tensors.size(); ++t) chosen.push_back(hulls[t][places[t]]);
  return chosen;
}

}  // namespace adit::quant
