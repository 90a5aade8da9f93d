#include "sample/entropy.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

TEST(Entropy, OfEqualLogitsIsTheLogarithmOfTheirNumber) {
  const std::vector<float> row = {3, -kTestInfinity, 3, 3, 3};
  const Entropy entropy = FindEntropy(row);
  EXPECT_NEAR(entropy.nats, std::log(4.0), 1e-12);
  EXPECT_NEAR(entropy.log_sum, std::log(4.0), 1e-12);
  EXPECT_EQ(entropy.num_pickable, 4);
  EXPECT_EQ(entropy.max, 3);
}

TEST(Entropy, OfACertainTokenIsZero) {
  EXPECT_EQ(FindEntropy(std::vector<float>{-kTestInfinity, 5}).nats, 0);
  EXPECT_EQ(FindEntropy(std::vector<float>{-500, 5, -1e30f}).nats, 0);
}

TEST(Entropy, AgreesWithItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> row = NormalRow(rng, 1 + static_cast<int64_t>(rng() % 2'000), 0.1 + round % 20);
    if (round % 3 == 0) row[rng() % row.size()] = -kTestInfinity;
    if (round % 3 == 0) row[rng() % row.size()] = 30;
    double expected = 0;
    for (const double logprob : ExactLogSoftmax(row)) {
      if (std::isfinite(logprob)) expected -= std::exp(logprob) * logprob;
    }
    ASSERT_NEAR(FindEntropy(row).nats, expected, 3e-5 * (1 + expected)) << "round " << round;
  }
}

}  // namespace
}  // namespace adit::sample
