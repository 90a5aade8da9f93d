#include "quant/token_norms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace adit::quant {
namespace {

using testing::ElementsAre;

TEST(HoldLargeTokensDown, ScalesThoseAboveTwiceTheMedian) {
  // Tokens of square norms 2, 2, 4, 200.
  std::vector<float> columns = {1, -1, std::sqrt(2.0f), 10, 1, 1, -std::sqrt(2.0f), -10};
  const std::vector<float> before = columns;
  HoldLargeTokensDown(columns, 2, 4);
  // The median is the third of four, 4, and 8 the most.
  EXPECT_THAT(columns, ElementsAre(before[0], before[1], before[2], testing::FloatEq(2), before[4], before[5],
                                   before[6], testing::FloatEq(-2)));
}

TEST(HoldLargeTokensDown, LeavesZerosAndWhatIsNotFinite) {
  std::vector<float> zeros = {0, 0, 5};
  HoldLargeTokensDown(zeros, 1, 3);
  EXPECT_THAT(zeros, ElementsAre(0, 0, 5));
  std::vector<float> odd = {1, INFINITY, 1};
  HoldLargeTokensDown(odd, 1, 3);
  EXPECT_THAT(odd, ElementsAre(1, INFINITY, 1));
}

}  // namespace
}  // namespace adit::quant
