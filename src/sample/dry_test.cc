#include "sample/dry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;

using Tokens = std::vector<int32_t>;

SamplingParams Params(double multiplier, double base, int64_t allowed, int64_t last_n = -1) {
  SamplingParams params;
  params.dry_multiplier = multiplier;
  params.dry_base = base;
  params.dry_allowed_length = allowed;
  params.dry_penalty_last_n = last_n;
  return params;
}

std::vector<float> Penalise(const SamplingParams& params, const std::vector<float>& row, const Tokens& prompt,
                            const Tokens& output) {
  Candidates candidates = MakeCandidates(row);
  SampleScratch scratch;
  const std::unique_ptr<Processor> dry = MakeDry(params);
  EXPECT_FALSE(dry->KeepsBest());
  dry->Apply({prompt, output, scratch}, candidates);
  EXPECT_TRUE(std::all_of(scratch.counts.begin(), scratch.counts.end(), [](int32_t count) { return count == 0; }));
  return LogitsOf(candidates);
}

// Penalties by comparing the end of the window with what stands before each of its tokens.
std::vector<float> BruteForce(const SamplingParams& params, std::vector<float> row, const Tokens& all) {
  const auto size = static_cast<int64_t>(all.size());
  const int64_t begin = params.dry_penalty_last_n < 0 ? 0 : std::max<int64_t>(0, size - params.dry_penalty_last_n);
  const Tokens window(all.begin() + begin, all.end());
  std::vector<Tokens> breakers = params.dry_sequence_breakers.sequences;
  for (const int32_t token : params.dry_sequence_breakers.tokens) breakers.push_back({token});
  size_t first = 0;  // after the last breaker
  for (const Tokens& breaker : breakers) {
    for (size_t end = breaker.size(); end <= window.size(); ++end) {
      if (std::equal(breaker.begin(), breaker.end(),
                     window.begin() + static_cast<std::ptrdiff_t>(end - breaker.size()))) {
        first = std::max(first, end);
      }
    }
  }
  std::vector<int64_t> longest(row.size(), -1);
  for (size_t place = 1; place < window.size(); ++place) {
    size_t length = 0;
    while (length < place && length < window.size() - first &&
           window[place - 1 - length] == window[window.size() - 1 - length]) {
      ++length;
    }
    int64_t& entry = longest[static_cast<size_t>(window[place])];
    if (static_cast<int64_t>(length) >= params.dry_allowed_length)
      entry = std::max(entry, static_cast<int64_t>(length));
  }
  for (size_t id = 0; id < row.size(); ++id) {
    const bool breaks = std::find(breakers.begin(), breakers.end(), Tokens{static_cast<int32_t>(id)}) != breakers.end();
    if (longest[id] < 0 || breaks) continue;
    const auto exponent = static_cast<double>(longest[id] - params.dry_allowed_length);
    row[id] = static_cast<float>(row[id] - params.dry_multiplier * std::pow(params.dry_base, exponent));
  }
  return row;
}

TEST(Dry, IsNoStepWhenOff) {
  EXPECT_EQ(MakeDry({}), nullptr);
  EXPECT_EQ(MakeDry(Params(1, 2, 2, 0)), nullptr);
  EXPECT_NE(MakeDry(Params(1, 2, 2)), nullptr);
}

// 0 1 2 3 0 1 2: what followed "0 1 2" is 3, a match of 3 tokens.
TEST(Dry, TakesMoreTheLongerTheRepetition) {
  const std::vector<float> row = {5, 5, 5, 5};
  EXPECT_THAT(Penalise(Params(1, 2, 2), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 3));
  EXPECT_THAT(Penalise(Params(1, 2, 1), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 1));
  EXPECT_THAT(Penalise(Params(0.5, 3, 1), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 0.5f));
  EXPECT_THAT(Penalise(Params(1, 2, 3), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 4));
  EXPECT_THAT(Penalise(Params(1, 2, 4), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 5)) << "allowed";
}

TEST(Dry, TakesTheLongestOfSeveralMatches) {
  // "2" was followed by 3 after a match of two tokens, then by 3 after a match of one.
  EXPECT_THAT(Penalise(Params(1, 2, 1), {0, 0, 0, 9}, {1, 2, 3, 0, 2, 3}, {1, 2}), ElementsAre(0, 0, 0, 7));
}

TEST(Dry, LooksAtTheWindowAlone) {
  const std::vector<float> row = {5, 5, 5, 5};
  EXPECT_THAT(Penalise(Params(1, 2, 2, 7), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 3));
  EXPECT_THAT(Penalise(Params(1, 2, 2, 6), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 4));
  EXPECT_THAT(Penalise(Params(1, 2, 2, 5), row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 5));
}

TEST(Dry, BreakersEndRepetitions) {
  SamplingParams params = Params(1, 2, 1);
  const std::vector<float> row = {5, 5, 5, 5};
  params.dry_sequence_breakers.tokens = {0};
  EXPECT_THAT(Penalise(params, row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 3)) << "2 tokens follow the breaker";
  params.dry_sequence_breakers.tokens = {2};
  EXPECT_THAT(Penalise(params, row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 5)) << "the newest is one";
  params.dry_sequence_breakers.tokens = {3};
  EXPECT_THAT(Penalise(params, row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 5)) << "a breaker loses nothing";
  params.dry_sequence_breakers = {.tokens = {}, .sequences = {{3, 0}}};
  EXPECT_THAT(Penalise(params, row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 3));
  params.dry_sequence_breakers = {.tokens = {}, .sequences = {{1, 0}, {3, 1}, {2, 1}}};
  EXPECT_THAT(Penalise(params, row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 1)) << "none of them occurs";
  params.dry_sequence_breakers = {.tokens = {}, .sequences = {{1}}};
  EXPECT_THAT(Penalise(params, row, {0, 1, 2, 3}, {0, 1, 2}), ElementsAre(5, 5, 5, 4)) << "one token is one alone";
}

TEST(Dry, LeavesBannedTokensBannedAndOthersFinite) {
  constexpr float kLargestFloat = std::numeric_limits<float>::max();
  const Tokens output(5'000, 1);
  EXPECT_THAT(Penalise(Params(1e300, 1e300, 0), {1, 2}, {}, output), ElementsAre(1, -kLargestFloat));
  EXPECT_THAT(Penalise(Params(1, 2, 1), {1, -kTestInfinity}, {}, output), ElementsAre(1, -kTestInfinity));
  EXPECT_THAT(Penalise(Params(1, 2, 1), {1, 2}, {-5, 900, -5, 900, -5}, {900}), ElementsAre(1, 2)) << "no tokens";
  EXPECT_THAT(Penalise(Params(1, 2, 1), {1, 2}, {}, {}), ElementsAre(1, 2));
}

TEST(Dry, AgreesWithBruteForceOnRandomHistories) {
  std::mt19937 rng(1);
  for (int round = 0; round < 2'000; ++round) {
    const auto vocab_size = static_cast<size_t>(2 + rng() % 4);
    const std::vector<float> row = NormalRow(rng, static_cast<int64_t>(vocab_size), 3);
    const auto random_tokens = [&](size_t count) {
      Tokens tokens(count);
      for (int32_t& token : tokens) token = static_cast<int32_t>(rng() % vocab_size);
      return tokens;
    };
    const Tokens prompt = random_tokens(rng() % 30);
    const Tokens output = random_tokens(rng() % 30);
    SamplingParams params = Params(0.5 + static_cast<double>(rng() % 3), 1.25 + static_cast<double>(rng() % 3) / 2,
                                   static_cast<int64_t>(rng() % 4), static_cast<int64_t>(1 + rng() % 70));
    if (rng() % 2 == 0) params.dry_penalty_last_n = -1;
    if (rng() % 2 == 0) params.dry_sequence_breakers.tokens = random_tokens(1);
    for (size_t i = rng() % 4; i > 0; --i) {
      params.dry_sequence_breakers.sequences.push_back(random_tokens(1 + rng() % 4));
    }
    Tokens all = prompt;
    all.insert(all.end(), output.begin(), output.end());
    ASSERT_THAT(Penalise(params, row, prompt, output), Pointwise(testing::FloatEq(), BruteForce(params, row, all)))
        << "round " << round;
  }
}

// Of the tokens of such a history each ends a repetition as long as what stands before it: comparing them one by one
// would take 5e11 steps for a million of them.
TEST(Dry, TakesLinearTimeForOneTokenRepeated) {
  const Tokens prompt(1'000'000, 1);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(Penalise(Params(1, 1.0001, 2), {0, 0}, prompt, {1}), ElementsAre(0, testing::Lt(-1e30f)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace adit::sample
