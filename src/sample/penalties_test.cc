#include "sample/penalties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;
using ::testing::Pointwise;

using Tokens = std::vector<int32_t>;

struct Past {
  Tokens prompt;
  Tokens output;
};

Candidates Penalise(const SamplingParams& params, Candidates candidates, const Past& history) {
  SampleScratch scratch;
  const std::unique_ptr<Processor> penalties = MakePenalties(params);
  if (penalties == nullptr) return candidates;
  EXPECT_FALSE(penalties->KeepsBest());
  penalties->Apply({history.prompt, history.output, scratch}, candidates);
  EXPECT_TRUE(std::all_of(scratch.counts.begin(), scratch.counts.end(), [](int32_t count) { return count == 0; }));
  return candidates;
}

std::vector<float> Penalise(const SamplingParams& params, const std::vector<float>& row, const Past& history) {
  return LogitsOf(Penalise(params, MakeCandidates(row), history));
}

SamplingParams Repetition(double penalty, int64_t last_n = -1) {
  SamplingParams params;
  params.repetition_penalty = penalty;
  params.repeat_last_n = last_n;
  return params;
}

SamplingParams PresenceFrequency(double presence, double frequency) {
  SamplingParams params;
  params.presence_penalty = presence;
  params.frequency_penalty = frequency;
  return params;
}

TEST(Penalties, AreNoStepWhenOff) {
  EXPECT_EQ(MakePenalties({}), nullptr);
  EXPECT_EQ(MakePenalties(Repetition(1.5, 0)), nullptr);
  EXPECT_NE(MakePenalties(Repetition(1.5)), nullptr);
  EXPECT_NE(MakePenalties(PresenceFrequency(0, 0.1)), nullptr);
  EXPECT_NE(MakePenalties(PresenceFrequency(-0.1, 0)), nullptr);
}

TEST(Penalties, RepetitionCountsEachDistinctTokenOnce) {
  EXPECT_THAT(Penalise(Repetition(1.5), {2, -2, 1}, {{0, 0, 0, 1}, {}}), ElementsAre(2.0f / 1.5f, -3, 1));
  EXPECT_THAT(Penalise(Repetition(1.5), {2, -2, 1}, {{}, {0, 1, 0, 0}}), ElementsAre(2.0f / 1.5f, -3, 1));
  EXPECT_THAT(Penalise(Repetition(1.5), {2, -2, 1}, {{0, 1}, {0, 0}}), ElementsAre(2.0f / 1.5f, -3, 1));
}

TEST(Penalties, RepetitionBelowOneFavoursWhatWasSaid) {
  EXPECT_THAT(Penalise(Repetition(0.5), {2, -2, 1, 0}, {{0, 1}, {3}}), ElementsAre(4, -1, 1, 0));
}

TEST(Penalties, WindowTakesTheLastTokensOfPromptAndOutputTogether) {
  const std::vector<float> row = {2, -2, 1};
  EXPECT_THAT(Penalise(Repetition(1.5, 2), row, {{0, 1, 1}, {}}), ElementsAre(2, -3, 1));
  EXPECT_THAT(Penalise(Repetition(1.5, 2), row, {{0, 1}, {1}}), ElementsAre(2, -3, 1));
  EXPECT_THAT(Penalise(Repetition(1.5, 2), row, {{}, {0, 1, 1}}), ElementsAre(2, -3, 1));
  EXPECT_THAT(Penalise(Repetition(1.5, 3), row, {{0, 1}, {1}}), ElementsAre(2.0f / 1.5f, -3, 1));
  EXPECT_THAT(Penalise(Repetition(2, 1), row, {{0, 1}, {2}}), ElementsAre(2, -2, 0.5f)) << "the newest, not the oldest";
}

TEST(Penalties, WindowOfNoneChangesNothingAndALongOneTakesAll) {
  const std::vector<float> row = {2, -2, 1};
  EXPECT_THAT(Penalise(Repetition(1.5, 0), row, {{0, 1, 1}, {2}}), ElementsAre(2, -2, 1));
  EXPECT_THAT(Penalise(Repetition(2, 1'000), row, {{0}, {1}}), ElementsAre(1, -4, 1));
  EXPECT_THAT(Penalise(Repetition(2, -1), row, {{0}, {1}}), ElementsAre(1, -4, 1));
  EXPECT_THAT(Penalise(Repetition(2, 2'147'483'647), row, {{0}, {1}}), ElementsAre(1, -4, 1));
}

TEST(Penalties, PresenceAndFrequencyCountTheOutputAlone) {
  EXPECT_THAT(Penalise(PresenceFrequency(0.5, 0.25), {2, -2, 1}, {{2, 2, 2, 2, 2}, {0, 0, 0}}),
              ElementsAre(0.75f, -2, 1));
  EXPECT_THAT(Penalise(PresenceFrequency(0.5, 0.25), {2, -2, 1}, {{0, 1, 2}, {}}), ElementsAre(2, -2, 1));
  EXPECT_THAT(Penalise(PresenceFrequency(-1, 0), {2, -2, 1}, {{}, {1, 1, 2}}), ElementsAre(2, -1, 2));
}

TEST(Penalties, WindowDoesNotConcernPresenceAndFrequency) {
  SamplingParams params = PresenceFrequency(0.5, 0.25);
  params.repetition_penalty = 2;
  params.repeat_last_n = 1;
  EXPECT_THAT(Penalise(params, {2, -2, 1}, {{}, {0, 0, 2}}), ElementsAre(1, -2, -0.25f));
}

TEST(Penalties, PassOverHistoryThatIsNoToken) {
  SamplingParams params = PresenceFrequency(1, 1);
  params.repetition_penalty = 2;
  EXPECT_THAT(Penalise(params, {2, -2, 1}, {{-1, 3, 2'147'483'647, -2'147'483'648}, {-5, 7, 0}}),
              ElementsAre(-1, -2, 1));
}

TEST(Penalties, LeaveBannedTokensBannedAndOthersFinite) {
  constexpr float kLargestFloat = std::numeric_limits<float>::max();
  EXPECT_THAT(Penalise(Repetition(1e-30), {-kTestInfinity, kLargestFloat, 1e30f}, {{0, 1, 2}, {}}),
              ElementsAre(-kTestInfinity, kLargestFloat, kLargestFloat));
  EXPECT_THAT(Penalise(Repetition(10), {-kTestInfinity, -kLargestFloat, 0}, {{0, 1, 2}, {}}),
              ElementsAre(-kTestInfinity, -kLargestFloat, 0));
  EXPECT_THAT(Penalise(PresenceFrequency(2, 2), {-kTestInfinity, -kLargestFloat, 0}, {{}, {0, 1, 2}}),
              ElementsAre(-kTestInfinity, -kLargestFloat, -4));
}

TEST(Penalties, WorkOnAListThatHasLostCandidates) {
  Candidates candidates = MakeCandidates({2, -2, 1, 3});
  candidates.Keep({.logit = 1, .index = 3});
  const Candidates changed = Penalise(Repetition(2), candidates, {{0, 1}, {3}});
  EXPECT_THAT(IdsOf(changed), ElementsAre(0, 2, 3));
  EXPECT_THAT(LogitsOf(changed), ElementsAre(1, 1, 1.5f));
}

TEST(Penalties, AgreeWithTheirDefinitionsOnRandomHistories) {
  std::mt19937 rng(1);
  for (int round = 0; round < 500; ++round) {
    const int64_t vocab_size = 1 + static_cast<int64_t>(rng() % 30);
    const std::vector<float> row = NormalRow(rng, vocab_size, 3);
    Past history;
    for (size_t i = rng() % 20; i > 0; --i) history.prompt.push_back(static_cast<int32_t>(rng() % row.size()));
    for (size_t i = rng() % 20; i > 0; --i) history.output.push_back(static_cast<int32_t>(rng() % row.size()));
    SamplingParams params;
    params.repetition_penalty = 0.5 + 0.25 * static_cast<double>(rng() % 6);
    params.repeat_last_n = static_cast<int64_t>(rng() % 45) - 1;
    params.presence_penalty = 0.5 * static_cast<double>(rng() % 5) - 1;
    params.frequency_penalty = 0.5 * static_cast<double>(rng() % 5) - 1;

    Tokens all = history.prompt;
    all.insert(all.end(), history.output.begin(), history.output.end());
    const size_t window = params.repeat_last_n < 0 ? all.size() : static_cast<size_t>(params.repeat_last_n);
    const auto window_begin = all.end() - static_cast<std::ptrdiff_t>(std::min(window, all.size()));
    std::vector<float> expected = row;
    for (int32_t id = 0; id < vocab_size; ++id) {
      double logit = row[static_cast<size_t>(id)];
      if (std::find(window_begin, all.end(), id) != all.end()) {
        logit = logit > 0 ? logit / params.repetition_penalty : logit * params.repetition_penalty;
      }
      const auto count = static_cast<double>(std::count(history.output.begin(), history.output.end(), id));
      logit -= params.frequency_penalty * count + (count > 0 ? params.presence_penalty : 0);
      expected[static_cast<size_t>(id)] = static_cast<float>(logit);
    }
    ASSERT_THAT(Penalise(params, row, history), Pointwise(testing::FloatNear(1e-5f), expected)) << "round " << round;
  }
}

}  // namespace
}  // namespace adit::sample
