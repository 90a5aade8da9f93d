#include "quant/bit_allocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace adit::quant {
namespace {

using Tensors = std::vector<std::vector<TensorChoice>>;

struct AllocationTotal {
  size_t bytes = 0;
  double cost = 0.0;
};

AllocationTotal TotalOf(const Tensors& tensors, const std::vector<size_t>& chosen) {
  AllocationTotal total;
  for (size_t i = 0; i < tensors.size(); ++i) {
    total.bytes += tensors[i][chosen[i]].bytes;
    total.cost += tensors[i][chosen[i]].cost;
  }
  return total;
}

// The least cost of all combinations within the budget, by trying them all; infinite where there is none.
double LeastCost(const Tensors& tensors, size_t budget_bytes) {
  double least = std::numeric_limits<double>::infinity();
  std::vector<size_t> chosen(tensors.size(), 0);
  for (;;) {
    const AllocationTotal total = TotalOf(tensors, chosen);
    if (total.bytes <= budget_bytes) least = std::min(least, total.cost);
    size_t i = 0;
    while (i < chosen.size() && ++chosen[i] == tensors[i].size()) chosen[i++] = 0;
    if (i == chosen.size()) return least;
  }
}

TEST(AllocateBits, IsWithinOneStepOfTheBestCombination) {
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    Tensors tensors(1 + random() % 5);
    double largest_step = 0.0;
    size_t most_bytes = 0;
    for (auto& choices : tensors) {
      choices.resize(1 + random() % 4);
      for (TensorChoice& choice : choices) choice = {1 + random() % 50, static_cast<double>(random() % 1000)};
      const auto [least, most] = std::ranges::minmax(choices, {}, &TensorChoice::cost);
      largest_step = std::max(largest_step, most.cost - least.cost);
      most_bytes += std::ranges::max_element(choices, {}, &TensorChoice::bytes)->bytes;
    }
    const size_t budget = random() % (most_bytes + 10);
    const double best = LeastCost(tensors, budget);
    const auto chosen = AllocateBits(tensors, budget);
    ASSERT_EQ(chosen.has_value(), best < std::numeric_limits<double>::infinity()) << "seed " << seed;
    if (!chosen) continue;
    const AllocationTotal total = TotalOf(tensors, *chosen);
    ASSERT_LE(total.bytes, budget) << "seed " << seed;
    ASSERT_LE(total.cost, best + largest_step) << "seed " << seed;
    ASSERT_GE(total.cost, best) << "seed " << seed;
  }
}

TEST(AllocateBits, GivesBytesToWhatGainsMostByEach) {
  const Tensors tensors = {{{10, 100.0}, {20, 10.0}}, {{10, 20.0}, {20, 2.0}}, {{10, 50.0}, {20, 49.0}}};
  EXPECT_EQ(AllocateBits(tensors, 40), (std::vector<size_t>{1, 0, 0}));
  EXPECT_EQ(AllocateBits(tensors, 50), (std::vector<size_t>{1, 1, 0}));
  EXPECT_EQ(AllocateBits(tensors, 1000), (std::vector<size_t>{1, 1, 1}));
}

TEST(AllocateBits, LeavesOutChoicesThatAreLargerAndNoBetter) {
  const Tensors tensors = {{{30, 5.0}, {10, 8.0}, {20, 9.0}, {40, 5.0}}};
  EXPECT_EQ(AllocateBits(tensors, 29), (std::vector<size_t>{1}));
  EXPECT_EQ(AllocateBits(tensors, 100), (std::vector<size_t>{0}));
}

TEST(AllocateBits, SkipsAStepThatDoesNotFitForSmallerOnes) {
  const Tensors tensors = {{{10, 100.0}, {90, 0.0}}, {{10, 3.0}, {15, 1.0}}};
  EXPECT_EQ(AllocateBits(tensors, 60), (std::vector<size_t>{0, 1}));
}

TEST(AllocateBits, HasNoAnswerBelowTheSmallestChoices) {
  EXPECT_EQ(AllocateBits(Tensors{{{10, 1.0}}, {{5, 1.0}, {8, 0.0}}}, 14), std::nullopt);
  EXPECT_NE(AllocateBits(Tensors{{{10, 1.0}}, {{5, 1.0}, {8, 0.0}}}, 15), std::nullopt);
}

}  // namespace
}  // namespace adit::quant
