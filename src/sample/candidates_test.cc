#include "sample/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

TEST(Candidates, AreAllTokensOfARow) {
  const Candidates candidates = MakeCandidates({3, 1, 2});
  EXPECT_EQ(candidates.size(), 3);
  EXPECT_EQ(candidates.vocab_size(), 3);
  EXPECT_THAT(IdsOf(candidates), ElementsAre(0, 1, 2));
  EXPECT_THAT(LogitsOf(candidates), ElementsAre(3, 1, 2));
}

TEST(Candidates, HoldNoNaNAndNoPlusInfinity) {
  EXPECT_THAT(LogitsOf(MakeCandidates({3, kTestNaN, -kTestInfinity})), ElementsAre(3, -kTestInfinity, -kTestInfinity));
  EXPECT_THAT(LogitsOf(MakeCandidates({3, kTestInfinity, kTestNaN, kTestInfinity})),
              ElementsAre(-kTestInfinity, 0, -kTestInfinity, 0));
}

TEST(Candidates, KeepTheTokensOfAMask) {
  std::vector<float> row(70);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i);
  // Bits behind the last token mean nothing.
  const std::vector<uint32_t> mask = {1U << 3 | 1U << 31, 1U, 1U << 5 | 1U << 20};
  Candidates whole = MakeCandidates(row);
  whole.KeepMask(mask);
  EXPECT_THAT(IdsOf(whole), ElementsAre(3, 31, 32, 69));
  EXPECT_THAT(LogitsOf(whole), ElementsAre(3, 31, 32, 69));
  Candidates some = MakeCandidates(row);
  some.KeepIds(std::vector<int32_t>{0, 3, 30, 69});
  some.KeepMask(mask);
  EXPECT_THAT(IdsOf(some), ElementsAre(3, 69));
  some.KeepMask(std::vector<uint32_t>(3));
  EXPECT_EQ(some.size(), 0);
}

TEST(Candidates, KeepWhatRanksNotBehind) {
  Candidates candidates = MakeCandidates({3, 1, 2, 2, 5, 2});
  candidates.Keep({.logit = 2, .index = 3});
  EXPECT_THAT(IdsOf(candidates), ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(LogitsOf(candidates), ElementsAre(3, 2, 2, 5));
  EXPECT_EQ(candidates.vocab_size(), 6);
  candidates.Keep({.logit = 2, .index = 1});
  EXPECT_THAT(IdsOf(candidates), ElementsAre(0, 2, 4));
  candidates.Keep({.logit = 4, .index = 0});
  EXPECT_THAT(IdsOf(candidates), ElementsAre(4));
}

TEST(Candidates, AreWholeAgainAfterReset) {
  Candidates candidates = MakeCandidates({3, 1, 2});
  candidates.Keep({.logit = 2, .index = 2});
  const std::vector<float> row = {9, 8, 7, 6};
  candidates.Reset(row, 9);
  EXPECT_THAT(IdsOf(candidates), ElementsAre(0, 1, 2, 3));
  const std::vector<float> shorter = {1};
  candidates.Reset(shorter, 1);
  EXPECT_EQ(candidates.vocab_size(), 1);
  EXPECT_THAT(IdsOf(candidates), ElementsAre(0));
}

TEST(Candidates, AreFoundByTokenId) {
  Candidates candidates = MakeCandidates({3, 1, 2, 5});
  EXPECT_EQ(candidates.Find(2), 2);
  EXPECT_EQ(candidates.Find(4), -1);
  EXPECT_EQ(candidates.Find(-1), -1);
  candidates.Keep({.logit = 2, .index = 3});
  EXPECT_EQ(candidates.Find(0), 0);
  EXPECT_EQ(candidates.Find(1), -1);
  EXPECT_EQ(candidates.Find(2), 1);
  EXPECT_EQ(candidates.Find(3), 2);
  EXPECT_EQ(candidates.Find(4), -1);
  EXPECT_EQ(candidates.Find(-1), -1);
}

TEST(Candidates, KeepAgreesWithTheRankingOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    const auto vocab_size = static_cast<int64_t>(1 + rng() % 300);
    const std::vector<float> row = RowWithTies(rng, vocab_size);
    const std::vector<int32_t> ranked = RankedIds(row);
    const size_t kept = 1 + rng() % ranked.size();
    const int32_t last = ranked[kept - 1];
    std::vector<int32_t> expected(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(kept));
    std::sort(expected.begin(), expected.end());
    Candidates candidates = MakeCandidates(row);
    candidates.Keep({.logit = row[static_cast<size_t>(last)], .index = last});
    ASSERT_EQ(IdsOf(candidates), expected) << "round " << round;
    for (int64_t i = 0; i < candidates.size(); ++i) {
      ASSERT_EQ(candidates.logits()[static_cast<size_t>(i)], row[static_cast<size_t>(candidates.id(i))]);
    }
  }
}

}  // namespace
}  // namespace adit::sample
