#include "sample/typical_p.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewTypicalP(double p) {
  SamplingParams params;
  params.typical_p = p;
  return MakeTypicalP(params);
}

TEST(TypicalP, IsNoStepWhenOff) { EXPECT_EQ(NewTypicalP(1), nullptr); }

// The entropy of {0.5, 0.25, 0.125, 0.125} is 1.75 bits and the surprises are 1, 2, 3 and 3: so 0.25 differs by 0.25,
// 0.5 by 0.75, and the others by 1.25.
TEST(TypicalP, TakesTokensByTheirDistanceFromTheEntropy) {
  const Candidates candidates = MakeCandidates(LogsOf({0.5, 0.125, 0.25, 0.125}));
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.2), candidates)), ElementsAre(2)) << "not the best";
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.26), candidates)), ElementsAre(0, 2));
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.74), candidates)), ElementsAre(0, 2));
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.76), candidates)), ElementsAre(0, 1, 2)) << "of equal ones the lower id";
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.9), candidates)), ElementsAre(0, 1, 2, 3));
  EXPECT_FALSE(NewTypicalP(0.5)->KeepsBest());
}

TEST(TypicalP, KeepsOneThatCanBePicked) {
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(1e-9), MakeCandidates({kTestNaN, 1, -kTestInfinity}))), ElementsAre(1));
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.999), MakeCandidates({-3}))), ElementsAre(0));
  EXPECT_THAT(IdsOf(Apply(*NewTypicalP(0.9), MakeCandidates({1, kTestInfinity, 5, kTestInfinity}))), ElementsAre(1, 3));
}

// The kept are a head of the list by typicality, with as much probability as is asked for and not a token more.
TEST(TypicalP, AgreesWithItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 400; ++round) {
    std::vector<float> row = round % 4 == 0 ? RowWithTies(rng, 1 + static_cast<int64_t>(rng() % 400))
                                            : NormalRow(rng, 1 + static_cast<int64_t>(rng() % 3'000), 0.5 + round % 7);
    if (round % 5 == 0 && row.size() > 2) row[0] = kTestNaN, row[1] = -kTestInfinity;
    const double p = static_cast<double>(1 + rng() % 999) / 1'000;
    SCOPED_TRACE(testing::Message() << "round " << round << ", vocabulary " << row.size() << ", p " << p);
    const std::vector<int32_t> kept = IdsOf(Apply(*NewTypicalP(p), MakeCandidates(row)));
    const std::vector<double> logprobs = ExactLogSoftmax(row);
    double entropy = 0;
    for (const double logprob : logprobs) entropy -= std::isfinite(logprob) ? std::exp(logprob) * logprob : 0;
    const auto distance = [&](int32_t id) { return std::fabs(entropy + logprobs[static_cast<size_t>(id)]); };

    double mass = 0;
    int32_t farthest = kept.front();
    for (const int32_t id : kept) {
      mass += std::exp(logprobs[static_cast<size_t>(id)]);
      if (distance(id) > distance(farthest)) farthest = id;
    }
    ASSERT_GE(mass, p - 1e-5);
    if (kept.size() > 1) {
      ASSERT_LT(mass - std::exp(logprobs[static_cast<size_t>(farthest)]), p + 1e-5);
    }
    for (int32_t id = 0; id < static_cast<int32_t>(row.size()); ++id) {
      const bool is_kept = std::binary_search(kept.begin(), kept.end(), id);
      if (!(row[static_cast<size_t>(id)] > -kTestInfinity)) {
        ASSERT_FALSE(is_kept);
      } else if (!is_kept) {
        ASSERT_GE(distance(id), distance(farthest) - 1e-4) << "token " << id;
      }
      // Of equal logits the lower ids stay.
      if (is_kept && id > 0 && row[static_cast<size_t>(id)] == row[static_cast<size_t>(id - 1)]) {
        ASSERT_TRUE(std::binary_search(kept.begin(), kept.end(), id - 1)) << "token " << id;
      }
    }
  }
}

}  // namespace
}  // namespace adit::sample
