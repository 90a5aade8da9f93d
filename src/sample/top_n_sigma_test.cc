#include "sample/top_n_sigma.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewTopNSigma(double n) {
  SamplingParams params;
  params.top_n_sigma = n;
  return MakeTopNSigma(params);
}

TEST(TopNSigma, IsNoStepWhenOff) {
  EXPECT_EQ(NewTopNSigma(-1), nullptr);
  EXPECT_EQ(NewTopNSigma(0), nullptr);
}

// Mean 5, squares of the distances 16 + 4 + 4 + 16 = 40, over four of them: the deviation is sqrt(10) = 3.1623.
TEST(TopNSigma, KeepsWhatIsWithinNDeviationsOfTheBest) {
  const Candidates candidates = MakeCandidates({1, 3, -kTestInfinity, 7, 9});
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(0.1), candidates)), ElementsAre(4));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(0.63), candidates)), ElementsAre(4));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(0.64), candidates)), ElementsAre(3, 4));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1.89), candidates)), ElementsAre(3, 4));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1.90), candidates)), ElementsAre(1, 3, 4));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(2.54), candidates)), ElementsAre(0, 1, 3, 4));
  EXPECT_TRUE(NewTopNSigma(1)->KeepsBest());
}

TEST(TopNSigma, KeepsATokenAtExactlyN) {
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(2), MakeCandidates({-1, 1, -1, 1}))), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1e-300), MakeCandidates({2, 2, 2}))), ElementsAre(0, 1, 2));
}

TEST(TopNSigma, TakesExtremeRows) {
  constexpr float kLargestFloat = std::numeric_limits<float>::max();
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1), MakeCandidates({5}))), ElementsAre(0));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1), MakeCandidates({kLargestFloat, -kLargestFloat, kTestNaN}))),
              ElementsAre(0));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1e308), MakeCandidates({kLargestFloat, -kLargestFloat, kTestNaN}))),
              ElementsAre(0, 1));
  EXPECT_THAT(IdsOf(Apply(*NewTopNSigma(1), MakeCandidates({1, kTestInfinity, 2, kTestInfinity}))), ElementsAre(1, 3));
}

TEST(TopNSigma, AgreesWithItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> row = round % 2 == 0 ? RowWithTies(rng, 1 + static_cast<int64_t>(rng() % 300))
                                            : NormalRow(rng, 1 + static_cast<int64_t>(rng() % 3'000), 2);
    if (round % 5 == 0) row[rng() % row.size()] = kTestNaN;
    row[rng() % row.size()] = 3;
    const double n = 0.37 + 0.01 * static_cast<double>(rng() % 400);
    double count = 0, mean = 0, squares = 0;
    for (const float logit : row) {
      if (logit > -kTestInfinity) mean += logit, count += 1;
    }
    mean /= count;
    for (const float logit : row) squares += logit > -kTestInfinity ? (logit - mean) * (logit - mean) : 0;
    float max = -kTestInfinity;
    for (const float logit : row) max = logit > max ? logit : max;
    const auto threshold = static_cast<float>(max - n * std::sqrt(squares / count));
    std::vector<int32_t> expected;
    for (size_t i = 0; i < row.size(); ++i) {
      if (row[i] >= threshold) expected.push_back(static_cast<int32_t>(i));
    }
    ASSERT_EQ(IdsOf(Apply(*NewTopNSigma(n), MakeCandidates(row))), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace adit::sample
