#include "sched/output_estimator.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace adit::sched {
namespace {

std::vector<int32_t> Prompt(int32_t start, size_t length) {
  std::vector<int32_t> tokens(length);
  std::iota(tokens.begin(), tokens.end(), start);
  return tokens;
}

TEST(OutputEstimator, TakesMaxTokensAtItsWordUntilItKnowsBetter) {
  OutputEstimator estimator;
  EXPECT_EQ(estimator.Predict(FeaturesOf(Prompt(0, 50), 0, 300)), 300.0);
  for (int i = 1; i < 100; ++i) {
    const auto features = FeaturesOf(Prompt(i, 50), 0, 10 * i);
    estimator.Observe(features, 10 * i);
  }
  EXPECT_NEAR(estimator.Predict(FeaturesOf(Prompt(0, 50), 0, 300)), 300.0, 5.0);
  EXPECT_NEAR(estimator.Predict(FeaturesOf(Prompt(0, 50), 0, 20)), 20.0, 1.0);
}

TEST(OutputEstimator, LearnsLengthsWhereMaxTokensTellsNothing) {
  OutputEstimator estimator;
  for (int i = 0; i < 200; ++i) estimator.Observe(FeaturesOf(Prompt(i, 50), 0, 1000 + 100 * (i % 30)), 40 + i % 5);
  EXPECT_NEAR(estimator.Predict(FeaturesOf(Prompt(0, 50), 0, 4000)), 42.0, 10.0);
}

TEST(OutputEstimator, TellsTenantsAndBeginningsApart) {
  OutputEstimator estimator;
  for (int i = 0; i < 200; ++i) {
    estimator.Observe(FeaturesOf(Prompt(0, 50), 1, 2000 + 10 * i), 20);
    estimator.Observe(FeaturesOf(Prompt(500, 50), 1, 2000 + 10 * i), 400);
    estimator.Observe(FeaturesOf(Prompt(0, 50), 2, 2000 + 10 * i), 1000);
  }
  EXPECT_NEAR(estimator.Predict(FeaturesOf(Prompt(0, 50), 1, 4000)), 20.0, 10.0);
  EXPECT_NEAR(estimator.Predict(FeaturesOf(Prompt(500, 50), 1, 4000)), 400.0, 20.0);
  EXPECT_NEAR(estimator.Predict(FeaturesOf(Prompt(0, 50), 2, 4000)), 1000.0, 50.0);
}

TEST(OutputEstimator, NeverTellsMoreThanMaxTokensAndStaysBounded) {
  OutputEstimator estimator;
  for (int32_t i = 0; i < 40000; ++i) estimator.Observe(FeaturesOf(Prompt(i, 40), i % 7, 5000), 3000);
  EXPECT_LE(estimator.Predict(FeaturesOf(Prompt(9, 40), 3, 10)), 10.0);
  EXPECT_EQ(estimator.Predict(FeaturesOf(Prompt(9, 40), 3, 0)), 0.0);
}

}  // namespace
}  // namespace adit::sched
