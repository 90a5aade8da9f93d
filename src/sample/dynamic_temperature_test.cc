#include "sample/dynamic_temperature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sample/temperature.h"
#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewDynamicTemperature(double temperature, double range, double exponent = 1) {
  SamplingParams params;
  params.temperature = temperature;
  params.dynatemp_range = range;
  params.dynatemp_exponent = exponent;
  return MakeTemperature(params);
}

TEST(DynamicTemperature, IsNoStepWhenOff) {
  EXPECT_EQ(MakeDynamicTemperature({}), nullptr);
  EXPECT_EQ(NewDynamicTemperature(1, 0), nullptr);
  EXPECT_NE(NewDynamicTemperature(1, 0.5), nullptr) << "it takes the place of the temperature of 1";
  EXPECT_TRUE(NewDynamicTemperature(1, 0.5)->KeepsBest());
}

// {0.5, 0.25, 0.125, 0.125} has 1.75 of at most 2 bits: 0.875.
TEST(DynamicTemperature, RisesWithTheEntropy) {
  const std::vector<float> row = LogsOf({0.5, 0.25, 0.125, 0.125});
  const auto distances = [&](double temperature) {
    const auto d = static_cast<float>(std::log(2.0) / temperature);
    return ElementsAre(0, testing::FloatNear(-d, 1e-5f), testing::FloatNear(-2 * d, 1e-5f),
                       testing::FloatNear(-2 * d, 1e-5f));
  };
  EXPECT_THAT(LogitsOf(Apply(*NewDynamicTemperature(1, 0.5), MakeCandidates(row))), distances(0.5 + 0.875));
  EXPECT_THAT(LogitsOf(Apply(*NewDynamicTemperature(1, 0.5, 2), MakeCandidates(row))), distances(0.5 + 0.875 * 0.875));
  EXPECT_THAT(LogitsOf(Apply(*NewDynamicTemperature(1, 0.5, 0), MakeCandidates(row))), distances(1.5));
  EXPECT_THAT(LogitsOf(Apply(*NewDynamicTemperature(0.5, 1.5), MakeCandidates(row))), distances(0.875 * 2))
      << "from 0, not from -1";
}

TEST(DynamicTemperature, TakesTheBestBelowTheGreedyTemperature) {
  EXPECT_THAT(IdsOf(Apply(*NewDynamicTemperature(0.5, 0.5), MakeCandidates({-500, 3, -60, 3 - 300}))), ElementsAre(1));
  EXPECT_THAT(IdsOf(Apply(*NewDynamicTemperature(0.5, 0.5, 1e6), MakeCandidates({0, 2, 2, 1}))), ElementsAre(1))
      << "the lowest id";
}

TEST(DynamicTemperature, LeavesASingleChoiceAlone) {
  EXPECT_THAT(LogitsOf(Apply(*NewDynamicTemperature(1, 0.5), MakeCandidates({-kTestInfinity, 3}))),
              ElementsAre(-kTestInfinity, 3));
}

TEST(DynamicTemperature, AgreesWithItsDefinitionOnRandomRows) {
  std::mt19937 rng(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<float> row = round % 2 == 0 ? RowWithTies(rng, 2 + static_cast<int64_t>(rng() % 300))
                                            : NormalRow(rng, 2 + static_cast<int64_t>(rng() % 2'000), 2);
    if (row.size() > 3) row[0] = round % 3 == 0 ? kTestNaN : row[0];
    const double temperature = 0.3 + 0.1 * static_cast<double>(rng() % 15);
    const double range = 0.1 + 0.1 * static_cast<double>(rng() % 15);
    const double exponent = 0.5 * static_cast<double>(rng() % 5);
    double entropy = 0, count = 0;
    for (const double logprob : ExactLogSoftmax(row)) {
      if (std::isfinite(logprob)) entropy -= std::exp(logprob) * logprob, count += 1;
    }
    const double low = std::max(0.0, temperature - range);
    const double t = low + (temperature + range - low) * std::pow(entropy / std::log(count), exponent);
    float max = -kTestInfinity;
    for (const float logit : row) max = logit > max ? logit : max;
    const std::vector<float> changed =
        LogitsOf(Apply(*NewDynamicTemperature(temperature, range, exponent), MakeCandidates(row)));
    ASSERT_EQ(changed.size(), row.size());
    for (size_t i = 0; i < row.size(); ++i) {
      if (std::isnan(row[i])) continue;
      const double expected = (row[i] - max) / t;
      ASSERT_NEAR(changed[i], expected, 1e-5 + 1e-4 * std::fabs(expected)) << "round " << round << ", token " << i;
    }
  }
}

}  // namespace
}  // namespace adit::sample
