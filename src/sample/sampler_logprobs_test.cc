#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/sampler.h"
#include "sample/test_rows.h"

namespace adit::sample {
namespace {

Sampler LogprobsSampler(const SamplingParams& params, int64_t vocab_size) {
  Result<Sampler> sampler = Sampler::Create(params, vocab_size, {.max_top_logprobs = 1'000});
  EXPECT_TRUE(sampler.ok()) << sampler.status().ToString();
  return std::move(sampler).value();
}

TEST(SamplerLogprobs, OfTheSampledTokenAreAlwaysTold) {
  std::mt19937 rng(1);
  const std::vector<float> row = NormalRow(rng, 400, 3);
  const std::vector<double> exact = ExactLogSoftmax(row);
  Sampler sampler = LogprobsSampler({}, 400);
  for (int64_t position = 0; position < 100; ++position) {
    const auto token = sampler.Sample(row, {}, {}, position);
    ASSERT_TRUE(token.ok());
    EXPECT_NEAR(token->logprob, exact[static_cast<size_t>(token->id)], 3e-6);
    EXPECT_LE(token->logprob, 0);
    EXPECT_TRUE(token->top.empty());
  }
}

TEST(SamplerLogprobs, AreLeftOutOnRequest) {
  SamplingParams params;
  params.top_logprobs = -1;
  Sampler sampler = LogprobsSampler(params, 3);
  const auto token = sampler.Sample(std::vector<float>{1, 2, 3}, {}, {}, 0);
  ASSERT_TRUE(token.ok());
  EXPECT_TRUE(std::isnan(token->logprob));
  EXPECT_TRUE(token->top.empty());
}

TEST(SamplerLogprobs, OfAlternativesFallAndEqualOnesAreOrderedById) {
  std::mt19937 rng(2);
  for (const int32_t count : {1, 5, 20}) {
    SamplingParams params;
    params.top_logprobs = count;
    Sampler sampler = LogprobsSampler(params, 300);
    for (int round = 0; round < 50; ++round) {
      const std::vector<float> row = round % 2 == 0 ? RowWithTies(rng, 300) : NormalRow(rng, 300, 2);
      const std::vector<int32_t> ranked = RankedIds(row);
      const std::vector<double> exact = ExactLogSoftmax(row);
      const auto token = sampler.Sample(row, {}, {}, round);
      ASSERT_TRUE(token.ok());
      ASSERT_EQ(token->top.size(), static_cast<size_t>(count));
      double sum = 0;
      for (size_t i = 0; i < token->top.size(); ++i) {
        ASSERT_EQ(token->top[i].id, ranked[i]);
        ASSERT_NEAR(token->top[i].logprob, exact[static_cast<size_t>(ranked[i])], 3e-6);
        if (i > 0) {
          ASSERT_LE(token->top[i].logprob, token->top[i - 1].logprob);
        }
        if (token->top[i].id == token->id) {
          ASSERT_EQ(token->top[i].logprob, token->logprob);
        }
        sum += std::exp(token->top[i].logprob);
      }
      ASSERT_LE(sum, 1 + 1e-6);
    }
  }
}

TEST(SamplerLogprobs, OfTheWholeVocabularyAddUpToOne) {
  std::mt19937 rng(3);
  for (const double sigma : {0.0, 1.0, 10.0}) {
    SamplingParams params;
    params.top_logprobs = 1'000;
    Sampler sampler = LogprobsSampler(params, 1'000);
    const auto token = sampler.Sample(NormalRow(rng, 1'000, sigma), {}, {}, 0);
    ASSERT_TRUE(token.ok());
    ASSERT_EQ(token->top.size(), 1'000u);
    double sum = 0;
    for (const TokenLogprob& each : token->top) sum += std::exp(each.logprob);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
}

TEST(SamplerLogprobs, AreTheModelsWhateverTheParams) {
  std::mt19937 rng(4);
  const std::vector<float> row = NormalRow(rng, 200, 2);
  const std::vector<double> exact = ExactLogSoftmax(row);
  const int32_t best = RankedIds(row)[0];
  SamplingParams params;
  params.top_logprobs = 5;
  params.top_k = 1;
  params.temperature = 2;
  params.repetition_penalty = 1.5;
  params.logit_bias = {{best, -3}, {7, 2}};
  const std::vector<int32_t> output = {best, 7, 9};
  Sampler sampler = LogprobsSampler(params, 200);
  const auto token = sampler.Sample(row, {}, output, 3);
  ASSERT_TRUE(token.ok());
  EXPECT_NEAR(token->logprob, exact[static_cast<size_t>(token->id)], 3e-6);
  for (size_t i = 0; i < token->top.size(); ++i) EXPECT_EQ(token->top[i].id, RankedIds(row)[i]);
  EXPECT_NEAR(token->top[0].logprob, exact[static_cast<size_t>(best)], 3e-6);
}

TEST(SamplerLogprobs, OfABannedBestTokenStayInTheList) {
  SamplingParams params;
  params.temperature = 0;
  params.top_logprobs = 2;
  params.logit_bias = {{1, -std::numeric_limits<double>::infinity()}};
  Sampler sampler = LogprobsSampler(params, 3);
  const auto token = sampler.Sample(std::vector<float>{1, 5, 2}, {}, {}, 0);
  ASSERT_TRUE(token.ok());
  EXPECT_EQ(token->id, 2);
  EXPECT_EQ(token->top[0].id, 1);
  EXPECT_EQ(token->top[1].id, 2);
}

TEST(SamplerLogprobs, AreFewerWhereFewerTokensArePossible) {
  SamplingParams params;
  params.top_logprobs = 20;
  Sampler sampler = LogprobsSampler(params, 4);
  const auto token = sampler.Sample(std::vector<float>{1, kTestNaN, -kTestInfinity, -500}, {}, {}, 0);
  ASSERT_TRUE(token.ok());
  ASSERT_EQ(token->top.size(), 2u);
  EXPECT_EQ(token->top[1].id, 3);
  EXPECT_EQ(token->top[1].logprob, -501) << "finite, though its weight is too small for float32";
}

}  // namespace
}  // namespace adit::sample
