#include "sample/mirostat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/sampler.h"
#include "sample/test_rows.h"

namespace adit::sample {
namespace {

SamplingParams Params(int32_t version, double tau = 5, double eta = 0.1) {
  SamplingParams params;
  params.mirostat = version;
  params.mirostat_tau = tau;
  params.mirostat_eta = eta;
  params.top_logprobs = 0;
  return params;
}

Sampler MirostatSampler(const SamplingParams& params, int64_t vocab_size) {
  Result<Sampler> sampler = Sampler::Create(params, vocab_size);
  EXPECT_TRUE(sampler.ok()) << sampler.status().ToString();
  return std::move(sampler).value();
}

// The ids that one draw leaves, with the state before it.
std::vector<int32_t> KeptWith(const SamplingParams& params, const std::vector<float>& row, double mu) {
  Candidates candidates = MakeCandidates(row);
  SampleScratch scratch;
  SamplerState state{.mirostat_mu = mu};
  const int64_t drawn = Mirostat(params).Draw(0.5, scratch, candidates, state);
  EXPECT_LT(drawn, candidates.size());
  return IdsOf(candidates);
}

// Surprises of {1/2, 1/4, 1/8, 1/8} are 1, 2, 3 and 3 bits.
TEST(Mirostat, Version2DropsWhatSurprisesMoreThanMu) {
  const std::vector<float> row = LogsOf({0.125, 0.25, 0.5, 0.125});
  EXPECT_THAT(KeptWith(Params(2), row, 3.01), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(KeptWith(Params(2), row, 2.99), testing::ElementsAre(1, 2));
  EXPECT_THAT(KeptWith(Params(2), row, 1.99), testing::ElementsAre(2));
  EXPECT_THAT(KeptWith(Params(2), row, 0.5), testing::ElementsAre(2)) << "the best stays";
  EXPECT_THAT(KeptWith(Params(2), row, -1e9), testing::ElementsAre(2));
  EXPECT_THAT(KeptWith(Params(2), {1, 1, 1}, -1e9), testing::ElementsAre(0)) << "one of equal ones";
  EXPECT_THAT(KeptWith(Params(2), row, 1e9), testing::ElementsAre(0, 1, 2, 3));
}

// A row that follows Zipf's law i^-2 has s = 2 and epsilon = 1: k = (2^mu / (1 - 1/N))^(1/2).
TEST(Mirostat, Version1KeepsTheKBestOfZipfsLaw) {
  std::vector<float> row;
  for (int i = 1; i <= 1'000; ++i) row.push_back(static_cast<float>(-2 * std::log(i)));
  for (const double mu : {0.0, 1.0, 4.1, 7.3, 12.0}) {
    const double k = std::sqrt(std::exp2(mu) / (1 - 1.0 / 1'000));
    EXPECT_EQ(KeptWith(Params(1), row, mu).size(), static_cast<size_t>(k)) << "mu " << mu;
  }
  EXPECT_EQ(KeptWith(Params(1), row, 100).size(), 1'000u);
  EXPECT_EQ(KeptWith(Params(1), row, 1e9).size(), 1'000u);
  EXPECT_EQ(KeptWith(Params(1), row, -1e9).size(), 1u);
}

// With s = 1 the formula is 0 / 0: its limit is k = 2^mu / log N.
TEST(Mirostat, Version1TakesTheLimitWhereEpsilonVanishes) {
  std::vector<float> row;
  for (int i = 1; i <= 1'000; ++i) row.push_back(static_cast<float>(-std::log(i)));
  EXPECT_NEAR(static_cast<double>(KeptWith(Params(1), row, 8).size()), 256 / std::log(1'000.0), 1.01);
}

TEST(Mirostat, Version1AgreesWithItsFormulaOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    const auto vocab_size = static_cast<int64_t>(3 + rng() % 600);
    std::vector<float> row = NormalRow(rng, vocab_size, 1.5);
    row[1] = kTestNaN;
    const double mu = static_cast<double>(rng() % 100) / 8;
    std::vector<float> sorted;
    for (const int32_t id : RankedIds(row)) sorted.push_back(row[static_cast<size_t>(id)]);
    double products = 0, squares = 0;
    for (size_t i = 0; i + 1 < std::min<size_t>(100, sorted.size()); ++i) {
      const double t = std::log(static_cast<double>(i + 2) / static_cast<double>(i + 1));
      products += t * (sorted[i] - sorted[i + 1]);
      squares += t * t;
    }
    const double s = products / squares;
    const double epsilon = s - 1;
    const double k =
        std::pow(epsilon * std::exp2(mu) / (1 - std::pow(static_cast<double>(vocab_size), -epsilon)), 1 / s);
    if (std::fabs(k - std::round(k)) < 1e-3) continue;
    const double expected = std::clamp(std::floor(k), 1.0, static_cast<double>(sorted.size()));
    const std::vector<int32_t> kept = KeptWith(Params(1), row, mu);
    // Where k exceeds the number of candidates, nothing is dropped, not even what cannot be picked.
    const auto num_kept = static_cast<double>(std::min(kept.size(), sorted.size()));
    ASSERT_EQ(num_kept, expected) << "round " << round << ", k " << k;
  }
}

TEST(Mirostat, TakesRowsWithoutAChoice) {
  for (const int32_t version : {1, 2}) {
    Sampler sampler = MirostatSampler(Params(version), 3);
    const auto token = sampler.Sample(std::vector<float>{kTestNaN, 4, -kTestInfinity}, {}, {}, 0);
    ASSERT_TRUE(token.ok());
    EXPECT_EQ(token->id, 1);
    EXPECT_NEAR(*token->state.mirostat_mu, 10 + 0.5, 1e-6) << "no surprise: 10 - 0.1 * (0 - 5)";
    ASSERT_TRUE(MirostatSampler(Params(version), 1).Sample(std::vector<float>{7}, {}, {}, 0).ok());
  }
}

// mu starts at 2 tau and follows the surprise of the token taken, by the whole distribution.
TEST(Mirostat, StateFollowsTheSurprise) {
  std::mt19937 rng(1);
  for (const int32_t version : {1, 2}) {
    Sampler sampler = MirostatSampler(Params(version, 3, 0.25), 400);
    SamplerState state;
    double mu = 6;
    for (int64_t position = 0; position < 100; ++position) {
      const std::vector<float> row = NormalRow(rng, 400, 2);
      const auto token = sampler.Sample(row, {}, {}, position, state);
      ASSERT_TRUE(token.ok());
      mu -= 0.25 * (-token->logprob / std::log(2.0) - 3);
      ASSERT_NEAR(*token->state.mirostat_mu, mu, 1e-4);
      state = token->state;
      mu = *state.mirostat_mu;
    }
  }
}

// The paper's claim: the average surprise is tau, as long as it lies between that of the best tokens, here 3.9 bits,
// and the entropy, here 8.1. The sum of all errors is (mu_0 - mu_n) / eta, and mu stays bounded.
TEST(Mirostat, AverageSurpriseIsTau) {
  std::mt19937 rng(1);
  constexpr int64_t kTokens = 3'000;
  for (const int32_t version : {1, 2}) {
    for (const double tau : {4.5, 6.0, 7.5}) {
      SamplingParams params = Params(version, tau);
      params.seed = 9;
      Sampler sampler = MirostatSampler(params, 2'000);
      SamplerState state;
      double sum = 0;
      for (int64_t position = 0; position < kTokens; ++position) {
        const auto token = sampler.Sample(NormalRow(rng, 2'000, 2), {}, {}, position, state);
        ASSERT_TRUE(token.ok());
        state = token->state;
        sum += -token->logprob / std::log(2.0);
      }
      EXPECT_NEAR(sum / kTokens, tau, 0.05) << "version " << version << ", tau " << tau;
    }
  }
}

TEST(Mirostat, SamplingRemembersNothingButTheState) {
  std::mt19937 rng(1);
  const std::vector<float> row = NormalRow(rng, 500, 2);
  for (const int32_t version : {1, 2}) {
    Sampler sampler = MirostatSampler(Params(version), 500);
    const SamplerState state{.mirostat_mu = 3.5};
    const auto first = sampler.Sample(row, {}, {}, 7, state);
    const int32_t id = first->id;
    const double mu = *first->state.mirostat_mu;
    for (int64_t position = 0; position < 20; ++position) ASSERT_TRUE(sampler.Sample(row, {}, {}, position).ok());
    const auto again = sampler.Sample(row, {}, {}, 7, state);
    EXPECT_EQ(again->id, id);
    EXPECT_EQ(*again->state.mirostat_mu, mu);
  }
}

TEST(Mirostat, LeavesTheStateOfOthersAlone) {
  const std::vector<float> row = {1, 2, 3};
  const SamplerState state{.mirostat_mu = 3.5};
  EXPECT_EQ(MirostatSampler({}, 3).Sample(row, {}, {}, 0, state)->state.mirostat_mu, 3.5);
  EXPECT_EQ(MirostatSampler({}, 3).Sample(row, {}, {}, 0)->state.mirostat_mu, std::nullopt);
  SamplingParams greedy = Params(2);
  greedy.temperature = 0;
  Sampler sampler = MirostatSampler(greedy, 3);
  EXPECT_EQ(sampler.Sample(row, {}, {}, 0)->id, 2);
  EXPECT_EQ(sampler.Sample(row, {}, {}, 0)->state.mirostat_mu, std::nullopt);
}

// Filters would drop all but one token; penalties act.
TEST(Mirostat, TakesThePlaceOfTheFilters) {
  SamplingParams params = Params(2);
  params.top_k = 1;
  params.top_p = 0;
  params.min_p = 1;
  params.top_n_sigma = 0.01;
  params.repetition_penalty = 2;
  EXPECT_FALSE(IsGreedy(params));
  Sampler sampler = MirostatSampler(params, 3);
  std::vector<int> counts(3);
  const std::vector<float> row = {0, 0.1f, -50};
  const std::vector<int32_t> output = {2};
  for (int64_t position = 0; position < 200; ++position) {
    ++counts[static_cast<size_t>(sampler.Sample(row, {}, output, position)->id)];
  }
  EXPECT_GT(counts[0], 50);
  EXPECT_GT(counts[1], 50);
}

}  // namespace
}  // namespace adit::sample
