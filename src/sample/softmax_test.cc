#include "sample/softmax.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

constexpr float kMax = std::numeric_limits<float>::max();

// Lengths around every loop's step: lanes, groups, chunks.
const int64_t kLengths[] = {1, 2, 3, 4, 5, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 4095, 4096, 4097, 10'007};

TEST(FindBest, FindsTheFirstOfTheLargest) {
  std::mt19937 rng(1);
  for (const int64_t length : kLengths) {
    for (int round = 0; round < 20; ++round) {
      const std::vector<float> row = round % 2 == 0 ? NormalRow(rng, length, 2) : RowWithTies(rng, length);
      const auto expected = std::max_element(row.begin(), row.end());
      const BestLogit best = FindBest(row);
      ASSERT_EQ(best.index, expected - row.begin()) << "length " << length;
      ASSERT_EQ(best.logit, *expected);
      ASSERT_EQ(MaxLogit(row), *expected);
    }
  }
}

TEST(FindBest, PassesOverNaNWhereverItStands) {
  std::mt19937 rng(2);
  for (const int64_t length : kLengths) {
    std::vector<float> row = NormalRow(rng, length, 1);
    for (float& logit : row) logit = rng() % 3 == 0 ? kTestNaN : logit;
    row[rng() % row.size()] = 50;
    const BestLogit best = FindBest(row);
    ASSERT_EQ(best.logit, 50);
    ASSERT_EQ(row[static_cast<size_t>(best.index)], 50);
  }
}

TEST(FindBest, HasNoIndexWhereNothingCanBePicked) {
  for (const int64_t length : kLengths) {
    std::vector<float> row(static_cast<size_t>(length), -kTestInfinity);
    EXPECT_EQ(FindBest(row).index, -1);
    row.assign(row.size(), kTestNaN);
    EXPECT_EQ(FindBest(row).index, -1);
    EXPECT_EQ(MaxLogit(row), -kTestInfinity);
    row.back() = -kMax;
    EXPECT_EQ(FindBest(row).index, length - 1);
  }
  EXPECT_EQ(FindBest({}).index, -1);
}

TEST(ExpWeights, AreRightToTheStatedError) {
  std::vector<float> row;
  for (double d = 0; d < 87; d += 0.000731) row.push_back(static_cast<float>(5.25 - d));
  std::vector<float> weights(row.size());
  ExpWeights(row, 5.25f, weights);
  for (size_t i = 0; i < row.size(); ++i) {
    const double d = row[i] - 5.25f;
    const double exact = std::exp(d);
    ASSERT_NEAR(weights[i], exact, (6e-7 - 7.5e-8 * d) * exact) << "distance " << d;
    ASSERT_LE(weights[i], 1.0f);
  }
}

TEST(ExpWeights, OfEdgesAreExact) {
  const std::vector<float> row = {3, -kTestInfinity, kTestNaN, -kMax, 3 - 87.5f, 3, -1e30f};
  std::vector<float> weights(row.size(), -1);
  ExpWeights(row, 3, weights);
  EXPECT_EQ(weights, (std::vector<float>{1, 0, 0, 0, 0, 1, 0}));
  ExpWeights({}, 3, {});
}

TEST(ExpWeights, OfOneValueDoNotDependOnItsNeighbours) {
  std::mt19937 rng(3);
  const std::vector<float> row = NormalRow(rng, 103, 5);
  std::vector<float> weights(row.size());
  ExpWeights(row, MaxLogit(row), weights);
  for (size_t i = 0; i < row.size(); ++i) {
    float alone = -1;
    ExpWeights({&row[i], 1}, MaxLogit(row), {&alone, 1});
    ASSERT_EQ(alone, weights[i]);
  }
}

TEST(SumExp, EqualsTheSumOfWeights) {
  std::mt19937 rng(4);
  for (const int64_t length : kLengths) {
    std::vector<float> row = NormalRow(rng, length, 4);
    if (length > 10) row[static_cast<size_t>(length / 2)] = kTestNaN;
    const float max = MaxLogit(row);
    double exact = 0;
    for (const float logit : row) exact += std::isnan(logit) ? 0 : std::exp(static_cast<double>(logit) - max);
    EXPECT_NEAR(SumExp(row, max), exact, 2.5e-6 * exact) << "length " << length;
  }
}

TEST(SumExp, CountsEqualLogitsExactly) {
  for (const int64_t length : kLengths) {
    const std::vector<float> row(static_cast<size_t>(length), -7.3f);
    EXPECT_EQ(SumExp(row, -7.3f), static_cast<double>(length));
  }
  EXPECT_EQ(SumExp({}, 0), 0);
}

TEST(LogSoftmax, AgreesWithDoublePrecision) {
  std::mt19937 rng(5);
  for (const double sigma : {0.1, 3.0, 20.0, 1000.0}) {
    const std::vector<float> row = NormalRow(rng, 5'000, sigma);
    const std::vector<double> exact = ExactLogSoftmax(row);
    const LogSoftmax log_softmax(row, FindBest(row));
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) {
      const double logprob = log_softmax(row[i]);
      ASSERT_NEAR(logprob, exact[i], 3e-6);
      ASSERT_LE(logprob, 0);
      sum += std::exp(logprob);
    }
    EXPECT_NEAR(sum, 1, 3e-6);
  }
}

TEST(LogSoftmax, OfACertainTokenIsZero) {
  const std::vector<float> row = {-200, 17.5f, -kTestInfinity, kTestNaN};
  const LogSoftmax log_softmax(row, FindBest(row));
  EXPECT_EQ(log_softmax(17.5f), 0);
  EXPECT_EQ(log_softmax(-200), -217.5);
  EXPECT_EQ(log_softmax(-kTestInfinity), -kTestInfinity);
  EXPECT_EQ(log_softmax(kTestNaN), -kTestInfinity);
}

TEST(LogSoftmax, IsFiniteForAllFiniteLogits) {
  const std::vector<float> row = {kMax, -kMax, 0};
  const LogSoftmax log_softmax(row, FindBest(row));
  for (const float logit : row) EXPECT_TRUE(std::isfinite(log_softmax(logit)));
}

TEST(LogSoftmax, GivesInfiniteLogitsEqualShares) {
  const std::vector<float> row = {1, kTestInfinity, 2, kTestInfinity, kTestNaN};
  const LogSoftmax log_softmax(row, FindBest(row));
  EXPECT_DOUBLE_EQ(log_softmax(kTestInfinity), -std::log(2.0));
  EXPECT_EQ(log_softmax(2), -kTestInfinity);
}

}  // namespace
}  // namespace adit::sample
