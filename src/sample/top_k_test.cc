#include "sample/top_k.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewTopK(int64_t k) {
  SamplingParams params;
  params.top_k = k;
  return MakeTopK(params);
}

TEST(TopK, IsNoStepWhenOff) {
  EXPECT_EQ(NewTopK(0), nullptr);
  EXPECT_EQ(NewTopK(-1), nullptr);
}

TEST(TopK, KeepsTheBestAndOfEqualOnesTheLowerIds) {
  const Candidates candidates = MakeCandidates({1, 3, 2, 3, 2, 2});
  EXPECT_THAT(IdsOf(Apply(*NewTopK(1), candidates)), ElementsAre(1));
  EXPECT_THAT(IdsOf(Apply(*NewTopK(3), candidates)), ElementsAre(1, 2, 3));
  EXPECT_THAT(LogitsOf(Apply(*NewTopK(3), candidates)), ElementsAre(3, 2, 3));
  EXPECT_THAT(IdsOf(Apply(*NewTopK(4), candidates)), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(IdsOf(Apply(*NewTopK(6), candidates)), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_TRUE(NewTopK(3)->KeepsBest());
}

TEST(TopK, KeepsNoMoreThanCanBePicked) {
  const Candidates candidates = MakeCandidates({kTestNaN, 1, -kTestInfinity, 2, kTestNaN});
  EXPECT_THAT(IdsOf(Apply(*NewTopK(4), candidates)), ElementsAre(1, 3));
}

TEST(TopK, AgreesWithSortingOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    const auto vocab_size = static_cast<int64_t>(1 + rng() % 400);
    const std::vector<float> row = round % 2 == 0 ? RowWithTies(rng, vocab_size) : NormalRow(rng, vocab_size, 2);
    const int64_t k = 1 + static_cast<int64_t>(rng() % static_cast<uint64_t>(vocab_size));
    std::vector<int32_t> expected = RankedIds(row);
    expected.resize(static_cast<size_t>(k));
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(IdsOf(Apply(*NewTopK(k), MakeCandidates(row))), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace adit::sample
