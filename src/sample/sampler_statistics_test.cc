#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sample/sampler.h"
#include "sample/test_rows.h"

// Sampled frequencies against exact probabilities, by Pearson's chi-square.
namespace adit::sample {
namespace {

constexpr int64_t kDraws = 40'000;

struct ChiSquare {
  double statistic = 0;
  double degrees = -1;
  // The value that a right sampler exceeds once in a million runs, by Wilson and Hilferty's approximation.
  double Limit() const {
    const double h = 2 / (9 * degrees);
    return degrees * std::pow(1 - h + 4.75 * std::sqrt(h), 3);
  }
};

// Cells that expect fewer than five draws are taken together.
ChiSquare Compare(const std::vector<int64_t>& counts, const std::vector<double>& probabilities) {
  ChiSquare result;
  double rest_expected = 0;
  double rest_count = 0;
  const auto add = [&](double count, double expected) {
    result.statistic += (count - expected) * (count - expected) / expected;
    result.degrees += 1;
  };
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = probabilities[i] * static_cast<double>(kDraws);
    if (expected >= 5) {
      add(static_cast<double>(counts[i]), expected);
    } else {
      rest_expected += expected;
      rest_count += static_cast<double>(counts[i]);
    }
  }
  if (rest_expected >= 5) add(rest_count, rest_expected);
  return result;
}

// Draws at kDraws positions of one seed, or with kDraws seeds at one position.
void ExpectFrequencies(const std::vector<float>& row, SamplingParams params, bool vary_seed) {
  const std::vector<double> probabilities = ExactProbabilities(row, params);
  std::vector<int64_t> counts(row.size());
  params.top_logprobs = -1;
  params.seed = 20'241'130;
  SampleScratch scratch;
  Result<Sampler> sampler = Sampler::Create(params, static_cast<int64_t>(row.size()), {}, &scratch);
  ASSERT_TRUE(sampler.ok());
  for (int64_t i = 0; i < kDraws; ++i) {
    if (vary_seed) {
      params.seed = i;
      sampler = Sampler::Create(params, static_cast<int64_t>(row.size()), {}, &scratch);
      ASSERT_TRUE(sampler.ok());
    }
    const auto token = sampler->Sample(row, {}, {}, vary_seed ? 77 : i);
    ASSERT_TRUE(token.ok());
    ASSERT_GT(probabilities[static_cast<size_t>(token->id)], 0) << "token " << token->id << " is not in the running";
    ++counts[static_cast<size_t>(token->id)];
  }
  const ChiSquare chi_square = Compare(counts, probabilities);
  ASSERT_GE(chi_square.degrees, 1);
  EXPECT_LT(chi_square.statistic, chi_square.Limit()) << chi_square.degrees << " degrees of freedom";
}

void ExpectFrequencies(const SamplingParams& params) {
  std::mt19937 rng(7);
  for (const double sigma : {0.5, 2.0}) {
    const std::vector<float> row = NormalRow(rng, 60, sigma);
    for (const bool vary_seed : {false, true}) {
      SCOPED_TRACE(testing::Message() << "sigma " << sigma << (vary_seed ? ", over seeds" : ", over positions"));
      ExpectFrequencies(row, params, vary_seed);
    }
  }
}

TEST(SamplerStatistics, FollowTheModelByDefault) { ExpectFrequencies(SamplingParams{}); }

TEST(SamplerStatistics, FollowTemperature) {
  for (const double temperature : {0.3, 1.7}) {
    SamplingParams params;
    params.temperature = temperature;
    ExpectFrequencies(params);
  }
}

TEST(SamplerStatistics, FollowTopK) {
  SamplingParams params;
  params.top_k = 12;
  ExpectFrequencies(params);
}

TEST(SamplerStatistics, FollowTopP) {
  SamplingParams params;
  params.top_p = 0.8;
  ExpectFrequencies(params);
}

TEST(SamplerStatistics, FollowMinP) {
  SamplingParams params;
  params.min_p = 0.07;
  ExpectFrequencies(params);
}

TEST(SamplerStatistics, FollowAllFiltersTogether) {
  SamplingParams params;
  params.top_k = 30;
  params.top_p = 0.93;
  params.min_p = 0.02;
  params.temperature = 1.3;
  ExpectFrequencies(params);
}

// More tokens than one block of the walk, most of them unlikely.
TEST(SamplerStatistics, FollowTheModelOverManyBlocks) {
  std::mt19937 rng(9);
  std::vector<float> row = NormalRow(rng, 5'000, 0.3);
  row[10] = 7;
  row[1'023] = 6.5f;
  row[1'024] = 6;
  row[4'999] = 7.5f;
  ExpectFrequencies(row, SamplingParams{}, false);
}

// What is drawn at one position says nothing about the next: pairs of neighbours fill a square evenly.
TEST(SamplerStatistics, AreIndependentBetweenPositions) {
  constexpr int kSide = 8;
  const std::vector<float> row(kSide, 0.0f);
  Result<Sampler> sampler = Sampler::Create({}, kSide);
  ASSERT_TRUE(sampler.ok());
  std::vector<int64_t> counts(kSide * kSide);
  for (int64_t i = 0; i < kDraws; ++i) {
    const int32_t first = sampler->Sample(row, {}, {}, 2 * i)->id;
    const int32_t second = sampler->Sample(row, {}, {}, 2 * i + 1)->id;
    ++counts[static_cast<size_t>(first * kSide + second)];
  }
  const ChiSquare chi_square = Compare(counts, std::vector<double>(counts.size(), 1.0 / (kSide * kSide)));
  EXPECT_LT(chi_square.statistic, chi_square.Limit());
}

}  // namespace
}  // namespace adit::sample
