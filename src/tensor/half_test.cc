#include "tensor/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace adit {
namespace {

bool IsNanHalf(uint16_t half) { return (half & 0x7c00u) == 0x7c00u && (half & 0x3ffu) != 0; }
bool IsNanBf16(uint16_t bf16) { return (bf16 & 0x7f80u) == 0x7f80u && (bf16 & 0x7fu) != 0; }

// The value of a finite half by its definition, in double, which holds every one of them.
double HalfValue(uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const int mantissa = half & 0x3ff;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000u) != 0 ? -magnitude : magnitude;
}

TEST(HalfToFloat, GivesTheValueOfTheDefinitionForAllHalves) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = HalfToFloat(half);
    ASSERT_EQ(std::signbit(value), (half & 0x8000u) != 0) << bits;
    if (IsNanHalf(half)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else if ((half & 0x7fffu) == 0x7c00u) {
      ASSERT_TRUE(std::isinf(value)) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(value), HalfValue(half)) << bits;
    }
  }
}

TEST(FloatToHalf, RoundTripsAllHalves) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const uint16_t back = FloatToHalf(HalfToFloat(half));
    if (IsNanHalf(half)) {
      ASSERT_TRUE(IsNanHalf(back)) << bits;
      ASSERT_EQ(back & 0x8000u, half & 0x8000u) << bits;
    } else {
      ASSERT_EQ(back, half) << bits;
    }
  }
}

// Between each half and the next, the midpoint goes to the even one and its neighbours to the nearer one.
TEST(FloatToHalf, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  for (uint16_t low = 0; low < 0x7bff; ++low) {
    const auto high = static_cast<uint16_t>(low + 1);
    const double exact = (HalfValue(low) + HalfValue(high)) / 2;
    const auto middle = static_cast<float>(exact);
    ASSERT_EQ(static_cast<double>(middle), exact);
    const uint16_t even = (low & 1u) == 0 ? low : high;
    for (const float sign : {1.0f, -1.0f}) {
      const auto sign_bit = static_cast<uint16_t>(sign < 0 ? 0x8000u : 0u);
      ASSERT_EQ(FloatToHalf(sign * middle), even | sign_bit) << low;
      ASSERT_EQ(FloatToHalf(sign * std::nextafter(middle, 0.0f)), low | sign_bit) << low;
      ASSERT_EQ(FloatToHalf(sign * std::nextafter(middle, 1e6f)), high | sign_bit) << low;
    }
  }
}

TEST(FloatToHalf, OverflowsToInfinityFromHalfAStepAboveTheLargest) {
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(-65520.0f), 0xfc00);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(FloatToHalf(-std::numeric_limits<float>::infinity()), 0xfc00);
}

TEST(FloatToHalf, FlushesWhatIsBelowHalfTheSmallestSubnormal) {
  EXPECT_EQ(FloatToHalf(0x1p-24f), 1);
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0);
  EXPECT_EQ(FloatToHalf(std::nextafter(0x1p-25f, 1.0f)), 1);
  EXPECT_EQ(FloatToHalf(-0x1p-26f), 0x8000);
  EXPECT_EQ(FloatToHalf(std::numeric_limits<float>::denorm_min()), 0);
}

// A NaN whose payload lies only in the bits that a half drops must not turn into infinity.
TEST(FloatToHalf, KeepsNaN) {
  EXPECT_TRUE(IsNanHalf(FloatToHalf(std::bit_cast<float>(0x7f800001u))));
  EXPECT_TRUE(IsNanHalf(FloatToHalf(std::bit_cast<float>(0xffc00000u))));
  EXPECT_EQ(FloatToHalf(std::bit_cast<float>(0xff800001u)) & 0x8000u, 0x8000u);
}

TEST(FloatToBf16, RoundTripsAllBf16) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto bf16 = static_cast<uint16_t>(bits);
    const float value = Bf16ToFloat(bf16);
    const uint16_t back = FloatToBf16(value);
    if (IsNanBf16(bf16)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(IsNanBf16(back)) << bits;
    } else {
      ASSERT_EQ(back, bf16) << bits;
    }
  }
}

TEST(FloatToBf16, RoundsToNearestAndTiesToEvenBetweenAllNeighbours) {
  for (uint32_t low = 0; low < 0x7f80; ++low) {
    const uint32_t middle = (low << 16) | 0x8000u;
    const uint32_t even = (low & 1u) == 0 ? low : low + 1;
    for (const uint32_t sign : {0u, 0x80000000u}) {
      ASSERT_EQ(FloatToBf16(std::bit_cast<float>(sign | middle)), (sign >> 16) | even) << low;
      ASSERT_EQ(FloatToBf16(std::bit_cast<float>(sign | (middle - 1))), (sign >> 16) | low) << low;
      ASSERT_EQ(FloatToBf16(std::bit_cast<float>(sign | (middle + 1))), (sign >> 16) | (low + 1)) << low;
    }
  }
}

TEST(FloatToBf16, KeepsNaNWhosePayloadIsInTheDroppedBits) {
  EXPECT_TRUE(IsNanBf16(FloatToBf16(std::bit_cast<float>(0x7f800001u))));
  EXPECT_TRUE(IsNanBf16(FloatToBf16(std::bit_cast<float>(0xffffffffu))));
}

}  // namespace
}  // namespace adit
