#include "sample/temperature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

using ::testing::ElementsAre;

std::unique_ptr<Processor> NewTemperature(double temperature) {
  SamplingParams params;
  params.temperature = temperature;
  return MakeTemperature(params);
}

TEST(Temperature, IsNoStepAtOne) { EXPECT_EQ(NewTemperature(1), nullptr); }

TEST(Temperature, DividesDistancesFromTheBest) {
  EXPECT_THAT(LogitsOf(Apply(*NewTemperature(2), MakeCandidates({3, 7, -1}))), ElementsAre(-2, 0, -4));
  EXPECT_THAT(LogitsOf(Apply(*NewTemperature(0.5), MakeCandidates({3, 7, -1}))), ElementsAre(-8, 0, -16));
  EXPECT_THAT(IdsOf(Apply(*NewTemperature(0.5), MakeCandidates({3, 7, -1}))), ElementsAre(0, 1, 2));
  EXPECT_TRUE(NewTemperature(2)->KeepsBest());
}

TEST(Temperature, NeverMakesAnImpossibleTokenPossible) {
  for (const double temperature : {1e-5, 1e-3, 2.0, 100.0}) {
    const std::vector<float> logits =
        LogitsOf(Apply(*NewTemperature(temperature), MakeCandidates({1, -kTestInfinity, kTestNaN})));
    EXPECT_THAT(logits, ElementsAre(0, -kTestInfinity, -kTestInfinity));
  }
}

TEST(Temperature, DoesNotOverflow) {
  constexpr float kLargestFloat = std::numeric_limits<float>::max();
  for (const double temperature : {kGreedyTemperature, 1e-3, 0.5, 2.0}) {
    for (const auto& row : std::vector<std::vector<float>>{{kLargestFloat, -kLargestFloat, 0},
                                                           {-kLargestFloat, -kLargestFloat, -kLargestFloat},
                                                           {kLargestFloat, kLargestFloat, 1}}) {
      for (const float logit : LogitsOf(Apply(*NewTemperature(temperature), MakeCandidates(row)))) {
        EXPECT_LE(logit, 0);
        EXPECT_FALSE(std::isnan(logit));
      }
    }
  }
}

}  // namespace
}  // namespace adit::sample
