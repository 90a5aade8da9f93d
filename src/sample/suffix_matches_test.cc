#include "sample/suffix_matches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace adit::sample {
namespace {

using Tokens = std::vector<int32_t>;

Tokens Find(const Tokens& prompt, const Tokens& output, int64_t window, int64_t limit) {
  Tokens matches = {99, 99, 99};
  FindSuffixMatches(History(prompt, output), window, limit, matches);
  if (!matches.empty()) matches[0] = 0;
  return matches;
}

TEST(History, IsReadFromItsEnd) {
  const Tokens prompt = {1, 2};
  const Tokens output = {3, 4, 5};
  const History history(prompt, output);
  ASSERT_EQ(history.size(), 5);
  for (int32_t i = 0; i < 5; ++i) EXPECT_EQ(history.FromEnd(i), 5 - i);
  EXPECT_TRUE(history.EndsWith({}));
  EXPECT_TRUE(history.EndsWith(output));
  EXPECT_TRUE(history.EndsWith(Tokens{2, 3, 4, 5}));
  EXPECT_TRUE(history.EndsWith(Tokens{2, 3}, 2));
  EXPECT_FALSE(history.EndsWith(Tokens{2, 3}, 1));
  EXPECT_TRUE(history.EndsWith(prompt, 3));
  EXPECT_FALSE(history.EndsWith(Tokens{0, 1, 2, 3, 4, 5}));
  EXPECT_FALSE(history.EndsWith(Tokens{1}, 5));
}

TEST(SuffixMatches, CountWhatEndsAlikeEarlier) {
  // Read backwards: 2 1 3 2 1 2 1.
  EXPECT_THAT(Find({1, 2, 1, 2}, {3, 1, 2}, 7, 100), testing::ElementsAre(0, 0, 0, 2, 0, 2, 0));
  EXPECT_THAT(Find({1, 2, 1, 2}, {3, 1, 2}, 7, 1), testing::ElementsAre(0, 0, 0, 1, 0, 1, 0));
  EXPECT_THAT(Find({1, 2, 1, 2}, {3, 1, 2}, 4, 100), testing::ElementsAre(0, 0, 0, 1)) << "inside the window";
  EXPECT_THAT(Find({7, 7}, {7, 7}, 4, 100), testing::ElementsAre(0, 3, 2, 1));
  EXPECT_THAT(Find({}, {}, 0, 100), testing::IsEmpty());
}

TEST(SuffixMatches, AgreeWithBruteForceOnRandomHistories) {
  std::mt19937 rng(1);
  for (int round = 0; round < 3'000; ++round) {
    Tokens all(rng() % 50);
    const uint32_t num_tokens = 1 + static_cast<uint32_t>(rng() % 3);
    for (int32_t& token : all) token = static_cast<int32_t>(rng() % num_tokens);
    const auto split = static_cast<std::ptrdiff_t>(rng() % (all.size() + 1));
    const auto window = static_cast<int64_t>(rng() % (all.size() + 1));
    const auto limit = static_cast<int64_t>(rng() % 12);
    const Tokens reversed(all.rbegin(), all.rend());
    Tokens expected(static_cast<size_t>(window));
    for (int64_t k = 1; k < window; ++k) {
      int32_t& length = expected[static_cast<size_t>(k)];
      while (length < limit && k + length < window &&
             reversed[static_cast<size_t>(length)] == reversed[static_cast<size_t>(k + length)]) {
        ++length;
      }
    }
    ASSERT_EQ(Find({all.begin(), all.begin() + split}, {all.begin() + split, all.end()}, window, limit), expected)
        << "round " << round;
  }
}

}  // namespace
}  // namespace adit::sample
