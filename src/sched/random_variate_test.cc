#include "sched/random_variate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

namespace adit::sched {
namespace {

struct Moments {
  double mean;
  double variance;
};

template <typename Draw>
Moments MomentsOf(int64_t count, const Draw& draw) {
  double sum = 0.0;
  double squares = 0.0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = draw(static_cast<uint64_t>(i));
    sum += value;
    squares += value * value;
  }
  const double mean = sum / static_cast<double>(count);
  return {mean, squares / static_cast<double>(count) - mean * mean};
}

TEST(RandomVariate, NormalHasMeanZeroAndVarianceOne) {
  const Moments moments = MomentsOf(100'000, [](uint64_t i) { return StandardNormal(7, i, 3); });
  EXPECT_NEAR(moments.mean, 0.0, 0.02);
  EXPECT_NEAR(moments.variance, 1.0, 0.03);
}

TEST(RandomVariate, ExponentialHasMeanOneAndVarianceOne) {
  const Moments moments = MomentsOf(100'000, [](uint64_t i) { return StandardExponential(7, i, 3); });
  EXPECT_NEAR(moments.mean, 1.0, 0.02);
  EXPECT_NEAR(moments.variance, 1.0, 0.05);
}

TEST(RandomVariate, GammaHasItsShapeAsMeanAndVariance) {
  for (const double shape : {0.1, 0.5, 1.0, 2.5, 40.0}) {
    const Moments moments = MomentsOf(100'000, [=](uint64_t i) { return Gamma(shape, 11, i, 1); });
    EXPECT_NEAR(moments.mean, shape, 0.03 * std::max(1.0, shape)) << shape;
    EXPECT_NEAR(moments.variance, shape, 0.06 * std::max(1.0, shape)) << shape;
  }
}

TEST(RandomVariate, IsAFunctionOfItsArguments) {
  EXPECT_EQ(Gamma(0.5, 1, 2, 3), Gamma(0.5, 1, 2, 3));
  EXPECT_NE(Gamma(0.5, 1, 2, 3), Gamma(0.5, 2, 2, 3));
  EXPECT_NE(Gamma(0.5, 1, 2, 3), Gamma(0.5, 1, 3, 3));
  EXPECT_NE(Gamma(0.5, 1, 2, 3), Gamma(0.5, 1, 2, 4));
}

}  // namespace
}  // namespace adit::sched
