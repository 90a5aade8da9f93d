#include "nn/rope.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace adit::nn {
namespace {

TEST(Rope, PlainFrequenciesFollowTheFormula) {
  const Rope rope({.num_pairs = 4, .theta = 10000.0});
  const std::vector<double> expected = {1.0, 0.1, 0.01, 0.001};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(rope.inverse_frequencies()[i], expected[i], 1e-12);
  float cos[4];
  float sin[4];
  rope.Angles(3, /*is_long=*/false, cos, sin);
  EXPECT_FLOAT_EQ(cos[0], std::cos(3.0f));
  EXPECT_FLOAT_EQ(sin[1], std::sin(0.3f));
}

// The published parameters of Llama 3.2 1B; expected values by the published formula.
TEST(Rope, Llama3ScalingOfLlama32) {
  const Rope rope({.num_pairs = 32,
                   .theta = 500000.0,
                   .scaling = RopeScaling::kLlama3,
                   .factor = 32.0,
                   .original_context = 8192.0,
                   .low_freq_factor = 1.0,
                   .high_freq_factor = 4.0});
  const Rope plain({.num_pairs = 32, .theta = 500000.0});
  const auto& scaled = rope.inverse_frequencies();
  for (int i = 0; i <= 14; ++i) EXPECT_EQ(scaled[i], plain.inverse_frequencies()[i]) << i;
  EXPECT_NEAR(scaled[14], 3.2114460e-3, 1e-9);
  EXPECT_NEAR(scaled[15], 1.2905479e-3, 1e-9);
  EXPECT_NEAR(scaled[16], 4.2955680e-4, 1e-10);
  EXPECT_NEAR(scaled[17], 9.7082878e-5, 1e-11);
  EXPECT_NEAR(scaled[18], 1.9461638e-5, 1e-11);
  EXPECT_NEAR(scaled[31], 9.4183067e-8, 1e-13);
}

TEST(Rope, DivisorsAreTheSameAsTheScalingTheyStandFor) {
  const Rope scaled({.num_pairs = 32,
                     .theta = 500000.0,
                     .scaling = RopeScaling::kLlama3,
                     .factor = 32.0,
                     .original_context = 8192.0});
  std::vector<float> divisors(32, 1.0f);
  divisors[15] = 1.6513292f;
  divisors[16] = 3.2922621f;
  divisors[17] = 9.6667290f;
  for (int i = 18; i < 32; ++i) divisors[i] = 32.0f;
  const Rope divided({.num_pairs = 32, .theta = 500000.0, .frequency_divisors = divisors});
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(divided.inverse_frequencies()[i] / scaled.inverse_frequencies()[i], 1.0, 1e-6) << i;
  }
}

TEST(Rope, LinearScalingDividesPositions) {
  const Rope plain({.num_pairs = 8});
  const Rope linear({.num_pairs = 8, .scaling = RopeScaling::kLinear, .factor = 4.0});
  float plain_cos[8], plain_sin[8], cos[8], sin[8];
  plain.Angles(5, /*is_long=*/false, plain_cos, plain_sin);
  linear.Angles(20, /*is_long=*/false, cos, sin);
  for (int i = 0; i < 8; ++i) EXPECT_FLOAT_EQ(cos[i], plain_cos[i]);
}

TEST(Rope, PositionZeroIsNotTurnedByAnyScaling) {
  for (RopeScaling scaling : {RopeScaling::kNone, RopeScaling::kLinear, RopeScaling::kLlama3}) {
    const Rope rope({.num_pairs = 8, .scaling = scaling, .factor = 8.0, .original_context = 64.0});
    float cos[8], sin[8];
    rope.Angles(0, /*is_long=*/false, cos, sin);
    for (int i = 0; i < 8; ++i) {
      EXPECT_EQ(cos[i], 1.0f);
      EXPECT_EQ(sin[i], 0.0f);
    }
  }
}

// dim 16, theta 10000, factor 4, original context 128: the pair that turns 32 times is below 0, the one that turns once
// is 8 ln(128 / 2 pi) / ln 10000 = 2.617, so the ramp runs from 0 to 3.
TEST(Rope, YarnBlendsBetweenItsBorders) {
  const Rope rope({.num_pairs = 8, .scaling = RopeScaling::kYarn, .factor = 4.0, .original_context = 128.0});
  const Rope plain({.num_pairs = 8});
  const double kept[] = {1.0, 1.0 - 1.0 / 3.0, 1.0 - 2.0 / 3.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  for (int i = 0; i < 8; ++i) {
    const double frequency = plain.inverse_frequencies()[i];
    EXPECT_NEAR(rope.inverse_frequencies()[i], frequency * kept[i] + frequency / 4.0 * (1.0 - kept[i]), 1e-12) << i;
  }
  EXPECT_NEAR(rope.attention_factor(), 0.1 * std::log(4.0) + 1.0, 1e-12);
}

TEST(Rope, LongSequencesTurnByDivisorsOfTheirOwn) {
  const Rope rope({.num_pairs = 2,
                   .theta = 100.0,
                   .attention_factor = 1.5,
                   .frequency_divisors = {1.0f, 2.0f},
                   .long_divisors = {4.0f, 8.0f}});
  float cos[2], sin[2];
  rope.Angles(3, /*is_long=*/false, cos, sin);
  EXPECT_FLOAT_EQ(cos[0], 1.5f * std::cos(3.0f));
  EXPECT_FLOAT_EQ(sin[1], 1.5f * std::sin(0.15f));
  rope.Angles(3, /*is_long=*/true, cos, sin);
  EXPECT_FLOAT_EQ(cos[0], 1.5f * std::cos(0.75f));
  EXPECT_FLOAT_EQ(sin[1], 1.5f * std::sin(0.0375f));
}

TEST(Rope, WithoutDivisorsForThemLongSequencesTurnLikeOthers) {
  const Rope rope({.num_pairs = 2, .theta = 100.0, .frequency_divisors = {1.0f, 2.0f}});
  EXPECT_EQ(rope.long_inverse_frequencies(), rope.inverse_frequencies());
}

}  // namespace
}  // namespace adit::nn
