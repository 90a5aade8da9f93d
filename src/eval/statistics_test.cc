#include "eval/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace adit::eval {
namespace {

using ::testing::DoubleNear;

TEST(LogSumExp, IsThatOfTheRowAndDoesNotOverflow) {
  EXPECT_THAT(LogSumExp(std::array{0.0f, 0.0f}), DoubleNear(std::log(2.0), 1e-7));
  EXPECT_THAT(LogSumExp(std::array{1000.0f, 999.0f}), DoubleNear(1000.0 + std::log1p(std::exp(-1.0)), 1e-4));
  EXPECT_EQ(LogSumExp(std::array{-3.0f}), -3.0);
}

TEST(MeanWithError, IsTheMeanAndItsStandardError) {
  MeanWithError mean;
  EXPECT_EQ(mean.error(), 0.0);
  for (const double x : {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}) mean.Add(x);
  EXPECT_EQ(mean.count(), 8);
  EXPECT_DOUBLE_EQ(mean.mean(), 5.0);
  // The squares of the distances are 32 in all: 32 / 8 / 7 is the variance of the mean.
  EXPECT_DOUBLE_EQ(mean.error(), std::sqrt(32.0 / 8.0 / 7.0));
}

TEST(Quantile, LiesBetweenNeighbours) {
  const std::array sorted = {1.0, 2.0, 4.0, 8.0};
  EXPECT_EQ(Quantile(sorted, 0.0), 1.0);
  EXPECT_EQ(Quantile(sorted, 0.5), 3.0);
  EXPECT_EQ(Quantile(sorted, 1.0), 8.0);
  EXPECT_EQ(Quantile({}, 0.5), 0.0);
}

TEST(Perplexity, OfAFairCoinIsTwo) {
  Perplexity perplexity;
  for (int i = 0; i < 5; ++i) perplexity.Add(std::log(2.0));
  EXPECT_DOUBLE_EQ(perplexity.value(), 2.0);
  EXPECT_NEAR(perplexity.error(), 0.0, 1e-9);
}

// p = (1/2, 1/4, 1/4) and q = (1/4, 1/4, 1/2), whose logits have 7 added.
TEST(Divergence, IsThatOfTheModelFromTheBase) {
  const float half = std::log(0.5f);
  const float quarter = std::log(0.25f);
  Divergence divergence;
  divergence.Add(std::array{half, quarter, quarter}, std::array{quarter + 7, quarter + 7, half + 7}, 0);
  EXPECT_NEAR(divergence.divergence().mean(), 0.25 * std::log(2.0), 1e-6);
  EXPECT_NEAR(divergence.base_perplexity().value(), 2.0, 1e-6);
  EXPECT_NEAR(divergence.perplexity().value(), 4.0, 1e-5);
  EXPECT_NEAR(divergence.log_ratio().mean(), std::log(2.0), 1e-6);
  EXPECT_EQ(divergence.same_top().mean(), 0.0);
  EXPECT_NEAR(divergence.probability_change().mean(), -0.25, 1e-6);
  EXPECT_NEAR(divergence.probability_change_rms(), 0.25, 1e-6);
}

TEST(Divergence, OfTheSameDistributionIsNothing) {
  const std::array row = {0.5f, -1.0f, 2.0f};
  std::array<float, 3> log_probs;
  for (size_t i = 0; i < 3; ++i) log_probs[i] = row[i] - static_cast<float>(LogSumExp(row));
  Divergence divergence;
  divergence.Add(log_probs, row, 1);
  divergence.Add(log_probs, row, 2);
  EXPECT_NEAR(divergence.DivergenceQuantile(1.0), 0.0, 1e-6);
  EXPECT_EQ(divergence.same_top().mean(), 1.0);
}

TEST(Divergence, LeavesOutWhatTheBaseDoesNotTell) {
  Divergence divergence(-16.0f);
  divergence.Add(std::array{0.0f, -16.0f}, std::array{0.0f, -300.0f}, 0);
  EXPECT_NEAR(divergence.divergence().mean(), 0.0, 1e-9);
}

}  // namespace
}  // namespace adit::eval
