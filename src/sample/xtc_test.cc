#include "sample/xtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "sample/random_streams.h"
#include "sample/sampler.h"
#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewXtc(double probability, double threshold, int64_t seed = 0) {
  SamplingParams params;
  params.xtc_probability = probability;
  params.xtc_threshold = threshold;
  params.seed = seed;
  return MakeXtc(params);
}

TEST(Xtc, IsNoStepWhenOff) {
  EXPECT_EQ(NewXtc(0, 0.1), nullptr);
  EXPECT_EQ(NewXtc(1, 0.51), nullptr);
  EXPECT_NE(NewXtc(1, 0.5), nullptr);
}

TEST(Xtc, DropsTheTopChoicesButTheLast) {
  const Candidates candidates = MakeCandidates(LogsOf({0.3, 0.05, 0.4, 0.2, 0.05}));
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.1), candidates)), ElementsAre(1, 3, 4));
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.25), candidates)), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.35), candidates)), ElementsAre(0, 1, 2, 3, 4)) << "one top choice stays";
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.45), candidates)), ElementsAre(0, 1, 2, 3, 4)) << "no top choice";
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.01), candidates)), ElementsAre(4)) << "of equal ones the last";
  EXPECT_FALSE(NewXtc(1, 0.1)->KeepsBest());
}

TEST(Xtc, CountsATokenAtExactlyTheThreshold) {
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.5), MakeCandidates({3, -kTestInfinity, 3}))), ElementsAre(1, 2));
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0.25), MakeCandidates({1, 1, 1, 1}))), ElementsAre(3));
}

TEST(Xtc, LeavesOneThatCanBePicked) {
  const Candidates kept = Apply(*NewXtc(1, 0), MakeCandidates({2, 1, -kTestInfinity, 3, kTestNaN, -200}));
  EXPECT_THAT(IdsOf(kept), ElementsAre(2, 4, 5));
  EXPECT_THAT(LogitsOf(kept), ElementsAre(-kTestInfinity, -kTestInfinity, -200));
  EXPECT_THAT(IdsOf(Apply(*NewXtc(1, 0), MakeCandidates({7}))), ElementsAre(0));
}

TEST(Xtc, AgreesWithItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    const std::vector<float> row = round % 2 == 0 ? RowWithTies(rng, 1 + static_cast<int64_t>(rng() % 40))
                                                  : NormalRow(rng, 1 + static_cast<int64_t>(rng() % 60), 1.5);
    const double threshold = 0.00123 + 0.01 * static_cast<double>(rng() % 45);
    const std::vector<double> logprobs = ExactLogSoftmax(row);
    const std::vector<int32_t> ranked = RankedIds(row);
    size_t num_top = 0;
    while (num_top < ranked.size() && std::exp(logprobs[static_cast<size_t>(ranked[num_top])]) >= threshold) ++num_top;
    std::vector<int32_t> expected(ranked.begin() + (num_top > 1 ? static_cast<std::ptrdiff_t>(num_top) - 1 : 0),
                                  ranked.end());
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(IdsOf(Apply(*NewXtc(1, threshold), MakeCandidates(row))), expected) << "round " << round;
  }
}

// A binomial count of 20,000 with p = 0.3 has a deviation of 65; five of them are missed once in two million runs.
TEST(Xtc, ActsWithItsProbability) {
  const std::unique_ptr<Processor> xtc = NewXtc(0.3, 0.2, 77);
  SampleScratch scratch;
  int64_t num_acted = 0;
  for (int64_t position = 0; position < 20'000; ++position) {
    Candidates candidates = MakeCandidates({1, 1, 0});
    xtc->Apply({.prompt = {}, .output = {}, .scratch = scratch, .position = position}, candidates);
    const bool acts = RandomUniform(77, static_cast<uint64_t>(position), kXtcStream) < 0.3;
    ASSERT_EQ(candidates.size(), acts ? 2 : 3);
    num_acted += acts ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(num_acted), 6'000, 325);
}

// Whether it acts says nothing about what is drawn: of three equal tokens each is drawn as often where it acted not,
// and where it acted the last alone is.
TEST(Xtc, DrawsApartFromTheToken) {
  SamplingParams params;
  params.xtc_probability = 0.5;
  params.xtc_threshold = 0.2;
  params.seed = 3;
  params.top_logprobs = -1;
  Result<Sampler> sampler = Sampler::Create(params, 3);
  ASSERT_TRUE(sampler.ok());
  const std::vector<float> row(3, 0.0f);
  std::vector<int> counts(3);
  for (int64_t position = 0; position < 24'000; ++position) {
    ++counts[static_cast<size_t>(sampler->Sample(row, {}, {}, position)->id)];
  }
  EXPECT_NEAR(counts[0], 4'000, 300);
  EXPECT_NEAR(counts[1], 4'000, 300);
  EXPECT_NEAR(counts[2], 16'000, 400);
}

TEST(Xtc, ActsOnGreedySamplersToo) {
  SamplingParams params;
  params.xtc_probability = 1;
  params.temperature = 0;
  Result<Sampler> sampler = Sampler::Create(params, 3);
  ASSERT_TRUE(sampler.ok());
  const std::vector<float> row = LogsOf({0.5, 0.3, 0.2});
  EXPECT_EQ(sampler->Sample(row, {}, {}, 0)->id, 2);
}

}  // namespace
}  // namespace adit::sample
