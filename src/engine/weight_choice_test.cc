#include "engine/weight_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::engine {
namespace {

using testing::HasSubstr;

TEST(WeightTypesFor, KnowsEveryNameThatItOffers) {
  EXPECT_FALSE(WeightTypesFor(std::nullopt, std::nullopt)->has_value());
  EXPECT_FALSE(WeightTypesFor("auto", std::nullopt)->has_value());
  EXPECT_EQ((*WeightTypesFor("bf16", std::nullopt))->matrices, DType::kBF16);
  EXPECT_EQ((*WeightTypesFor(std::nullopt, "Q8_0"))->matrices, DType::kQ8_0);
  EXPECT_FALSE((*WeightTypesFor(std::nullopt, "q8_0"))->output.has_value());
  EXPECT_EQ((*WeightTypesFor("auto", "q4_0"))->output, DType::kQ8_0);
}

TEST(WeightTypesFor, RefusesOtherNamesWithWhatIsKnown) {
  EXPECT_THAT(WeightTypesFor("f64", std::nullopt).status().message(), HasSubstr("known are auto, f32, f16, bf16"));
  EXPECT_THAT(WeightTypesFor("q8_0", std::nullopt).status().message(), HasSubstr("no dtype 'q8_0'"));
  EXPECT_THAT(WeightTypesFor(std::nullopt, "q4_m").status().message(),
              HasSubstr("known are q4_0, q4_1, q5_0, q5_1, q8_0"));
  EXPECT_FALSE(WeightTypesFor("f16", "q8_0").ok());
}

}  // namespace
}  // namespace adit::engine
