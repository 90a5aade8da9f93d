#include "sample/min_p.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewMinP(double p) {
  SamplingParams params;
  params.min_p = p;
  return MakeMinP(params);
}

TEST(MinP, IsNoStepWhenOff) { EXPECT_EQ(NewMinP(0), nullptr); }

TEST(MinP, KeepsWhatIsLikelyEnoughBesideTheBest) {
  const auto log = [](double probability) { return static_cast<float>(std::log(probability)); };
  const Candidates candidates = MakeCandidates({log(0.1), log(0.5), log(0.25), log(0.15)});
  EXPECT_THAT(IdsOf(Apply(*NewMinP(0.19), candidates)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(IdsOf(Apply(*NewMinP(0.21), candidates)), ElementsAre(1, 2, 3));
  EXPECT_THAT(IdsOf(Apply(*NewMinP(0.31), candidates)), ElementsAre(1, 2));
  EXPECT_THAT(IdsOf(Apply(*NewMinP(0.5), candidates)), ElementsAre(1, 2)) << "exactly min_p is enough";
  EXPECT_THAT(IdsOf(Apply(*NewMinP(0.51), candidates)), ElementsAre(1));
  EXPECT_TRUE(NewMinP(0.5)->KeepsBest());
}

TEST(MinP, OfOneKeepsTheBestAndItsEquals) {
  EXPECT_THAT(IdsOf(Apply(*NewMinP(1), MakeCandidates({1, 7, 7, 6.9999995f}))), ElementsAre(1, 2));
}

TEST(MinP, DropsWhatCannotBePicked) {
  EXPECT_THAT(IdsOf(Apply(*NewMinP(1e-300), MakeCandidates({kTestNaN, -3, -kTestInfinity, -600, -800}))),
              ElementsAre(1, 3));
}

TEST(MinP, HoldsItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<float> row = NormalRow(rng, static_cast<int64_t>(1 + rng() % 400), 3);
    const double p = static_cast<double>(1 + rng() % 999) / 1'000;
    const float max = *std::max_element(row.begin(), row.end());
    Candidates kept = Apply(*NewMinP(p), MakeCandidates(row));
    for (size_t i = 0; i < row.size(); ++i) {
      const double ratio = std::exp(static_cast<double>(row[i]) - max);
      const bool found = kept.Find(static_cast<int32_t>(i)) >= 0;
      if (std::abs(ratio - p) > 1e-6 * p) {
        ASSERT_EQ(found, ratio > p) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace adit::sample
