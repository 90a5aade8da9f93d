#include "sample/top_p.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewTopP(double p) {
  SamplingParams params;
  params.top_p = p;
  return MakeTopP(params);
}

TEST(TopP, IsNoStepWhenOff) { EXPECT_EQ(NewTopP(1), nullptr); }

TEST(TopP, KeepsTheSmallestSetThatReachesP) {
  const Candidates candidates = MakeCandidates(LogsOf({0.05, 0.5, 0.15, 0.3}));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.01), candidates)), ElementsAre(1));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.49), candidates)), ElementsAre(1));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.51), candidates)), ElementsAre(1, 3));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.79), candidates)), ElementsAre(1, 3));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.81), candidates)), ElementsAre(1, 2, 3));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.96), candidates)), ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(NewTopP(0.5)->KeepsBest());
}

// Equal logits weigh exactly 1, so nothing is rounded: reaching p exactly is enough.
TEST(TopP, CountsEqualCandidatesByTheirIds) {
  const Candidates candidates = MakeCandidates(std::vector<float>(8, -3.0f));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.0), candidates)), ElementsAre(0));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.125), candidates)), ElementsAre(0));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.126), candidates)), ElementsAre(0, 1));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.5), candidates)), ElementsAre(0, 1, 2, 3));
  const Candidates many = MakeCandidates(std::vector<float>(100'000, 1.5f));
  EXPECT_EQ(Apply(*NewTopP(0.5), many).size(), 50'000);
  EXPECT_EQ(Apply(*NewTopP(0.999), many).size(), 99'900);
}

TEST(TopP, DropsWhatCannotBePicked) {
  const Candidates candidates = MakeCandidates({kTestNaN, 0, -kTestInfinity, 0, -300});
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.9), candidates)), ElementsAre(1, 3));
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.999999), MakeCandidates({-kTestInfinity, 4}))), ElementsAre(1));
}

TEST(TopP, TakesLogitsAtTheEndsOfTheirRange) {
  constexpr float kLargestFloat = std::numeric_limits<float>::max();
  EXPECT_THAT(IdsOf(Apply(*NewTopP(0.9), MakeCandidates({-kLargestFloat, kLargestFloat, 0, kLargestFloat}))),
              ElementsAre(1, 3));
}

// The kept set is the head of the ranking, reaches p, and does not without its last member; to the rounding of float32.
TEST(TopP, HoldsItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 600; ++round) {
    const auto vocab_size = static_cast<int64_t>(1 + rng() % (round % 3 == 0 ? 4'000 : 400));
    const double sigma = std::vector<double>{0.01, 1, 5, 40}[rng() % 4];
    const std::vector<float> row = round % 4 == 0 ? RowWithTies(rng, vocab_size) : NormalRow(rng, vocab_size, sigma);
    const double p = static_cast<double>(rng() % 1'000) / 1'000;
    SCOPED_TRACE(testing::Message() << "round " << round << ", vocabulary " << vocab_size << ", p " << p);
    const std::vector<int32_t> kept = IdsOf(Apply(*NewTopP(p), MakeCandidates(row)));
    std::vector<int32_t> head = RankedIds(row);
    head.resize(kept.size());
    const std::vector<double> logprobs = ExactLogSoftmax(row);
    double mass = 0;
    for (const int32_t id : head) mass += std::exp(logprobs[static_cast<size_t>(id)]);
    const double last = std::exp(logprobs[static_cast<size_t>(head.back())]);
    ASSERT_GE(mass, p - 3e-6);
    if (head.size() > 1) {
      ASSERT_LT(mass - last, p + 3e-6);
    }
    std::sort(head.begin(), head.end());
    ASSERT_EQ(kept, head);
  }
}

}  // namespace
}  // namespace adit::sample
