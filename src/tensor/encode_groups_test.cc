#include "tensor/encode_groups.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tensor/fp8.h"
#include "tensor/half.h"

namespace adit {
namespace {

std::vector<float> NormalRow(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> row(static_cast<size_t>(n));
  for (float& x : row) x = 0.1f * normal(random);
  return row;
}

std::vector<float> RoundTripGroups(const GroupScales& groups, const std::vector<float>& row, const float* importance) {
  const auto n = static_cast<int64_t>(row.size());
  std::vector<std::byte> blocks(RowBytes(groups.dtype(), n));
  EncodeGroups(groups, row.data(), importance, blocks.data(), n);
  std::vector<float> out(row.size());
  Traits(groups.dtype()).decode(blocks.data(), out.data(), n);
  return out;
}

double WeighedError(const std::vector<float>& a, const std::vector<float>& b, const std::vector<float>& importance) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double error = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += static_cast<double>(importance[i]) * error * error;
  }
  return sum;
}

class EncodeGroupsTest : public testing::TestWithParam<GroupScales> {};

// Each weight becomes the nearest of the values that the group's largest magnitude, or its range, allows.
TEST_P(EncodeGroupsTest, RoundsToTheNearestOfEvenlySpacedValues) {
  const GroupScales& groups = GetParam();
  const std::vector<float> row = NormalRow(256, 3);
  const std::vector<float> got = RoundTripGroups(groups, row, nullptr);
  const auto size = static_cast<size_t>(groups.group_size > 0 ? groups.group_size : 256);
  for (size_t begin = 0; begin < row.size(); begin += size) {
    float low = 0.0f;
    float high = 0.0f;
    for (size_t i = begin; i < begin + size; ++i) {
      low = std::min(low, row[i]);
      high = std::max(high, row[i]);
    }
    const auto last = static_cast<float>(groups.num_codes() - 1);
    float step = (high - low) / last;
    if (groups.symmetric) step = 2.0f * std::max(-low, high) / (groups.bits == 8 ? last - 1.0f : last);
    for (size_t i = begin; i < begin + size; ++i) {
      // The largest magnitude may be half a step beyond the last code, and scales are halves.
      const float slack = groups.bits == 8 && !groups.half_scales ? 1e-6f : 1e-3f * std::abs(row[i]) + 0.01f * step;
      EXPECT_LE(std::abs(got[i] - row[i]), 0.5f * step + slack) << i;
    }
  }
}

// Whole numbers times a step, of which the largest is not where the last code of any narrower span lies: fitted to its
// codes, a scale gives the step itself.
TEST(EncodeGroups, WithImportanceTheScaleFitsItsCodes) {
  const GroupScales groups{.bits = 4, .group_size = 32, .symmetric = true, .half_scales = true};
  std::vector<float> row;
  for (int i = 0; i < 32; ++i) row.push_back(0.0625f * static_cast<float>(i == 0 ? 7 : i % 13 - 6));
  const std::vector<float> importance(row.size(), 2.0f);
  EXPECT_EQ(RoundTripGroups(groups, row, importance.data()), row);
  EXPECT_NE(RoundTripGroups(groups, row, nullptr), row);
}

TEST_P(EncodeGroupsTest, ImportanceMakesTheErrorThatCountsNoLarger) {
  const std::vector<float> row = NormalRow(256, 5);
  std::vector<float> importance;
  for (size_t i = 0; i < row.size(); ++i) importance.push_back(i % 7 == 0 ? 30.0f : 1.0f);
  const double plain = WeighedError(row, RoundTripGroups(GetParam(), row, nullptr), importance);
  const double searched = WeighedError(row, RoundTripGroups(GetParam(), row, importance.data()), importance);
  EXPECT_LE(searched, plain * (1.0 + 1e-6));
  if (GetParam().bits < 8) {
    EXPECT_LT(searched, 0.97 * plain);
  }
}

TEST_P(EncodeGroupsTest, MultipliedScalesMultiplyTheirGroups) {
  const GroupScales& groups = GetParam();
  const std::vector<float> row = NormalRow(256, 9);
  const size_t size = groups.group_size > 0 ? static_cast<size_t>(groups.group_size) : row.size();
  std::vector<std::byte> blocks(RowBytes(groups.dtype(), 256));
  EncodeGroups(groups, row.data(), nullptr, blocks.data(), 256);
  std::vector<float> before(row.size()), after(row.size());
  Traits(groups.dtype()).decode(blocks.data(), before.data(), 256);
  std::vector<double> factors;
  for (size_t g = 0; g < row.size() / size; ++g) factors.push_back(0.9 + 0.07 * static_cast<double>(g));
  MultiplyScales(groups, factors, blocks.data(), 256);
  Traits(groups.dtype()).decode(blocks.data(), after.data(), 256);
  // Scales are halves.
  for (size_t i = 0; i < row.size(); ++i) {
    EXPECT_NEAR(after[i], before[i] * static_cast<float>(factors[i / size]), 1e-3f * std::abs(before[i])) << i;
  }
}

TEST_P(EncodeGroupsTest, ZerosStayZeros) {
  for (const float x : RoundTripGroups(GetParam(), std::vector<float>(256, 0.0f), nullptr)) EXPECT_EQ(x, 0.0f);
}

TEST_P(EncodeGroupsTest, WhatIsNotFiniteTaintsItsGroup) {
  std::vector<float> row = NormalRow(256, 7);
  row[3] = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isnan(RoundTripGroups(GetParam(), row, nullptr)[0]));
}

INSTANTIATE_TEST_SUITE_P(All, EncodeGroupsTest,
                         testing::Values(GroupScales{.bits = 4, .group_size = 64},
                                         GroupScales{.bits = 4, .group_size = 0},
                                         GroupScales{.bits = 4, .group_size = 32, .symmetric = false},
                                         GroupScales{.bits = 3, .group_size = 128},
                                         GroupScales{.bits = 2, .group_size = 32},
                                         GroupScales{.bits = 8, .group_size = 0, .half_scales = false},
                                         GroupScales{.bits = 8, .group_size = 128}));

TEST(EncodeGroups, ZeroPointsKeepToWhatAFormatCanSay) {
  GroupScales groups{.bits = 4, .group_size = 32, .symmetric = false, .least_zero = 1};
  std::vector<float> row(32);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i);  // none below 0
  std::vector<std::byte> blocks(RowBytes(DType::kInt4, 32));
  EncodeGroups(groups, row.data(), nullptr, blocks.data(), 32);
  EXPECT_EQ(std::to_integer<int>(blocks[2]), 1);
}

// A kind of numbers of eight bits, of which those up to `last` are finite and not negative.
struct Fp8Kind {
  const char* name;
  uint8_t last;
  float (*widen)(uint8_t);
  uint8_t (*narrow)(float);
};

class Fp8Numbers : public testing::TestWithParam<Fp8Kind> {};

TEST_P(Fp8Numbers, GetWhatIsNearest) {
  const Fp8Kind& kind = GetParam();
  for (uint8_t bits = 0; bits < kind.last; ++bits) {
    const auto next_bits = static_cast<uint8_t>(bits + 1);
    const float number = kind.widen(bits);
    const float next = kind.widen(next_bits);
    ASSERT_LT(number, next);
    EXPECT_EQ(kind.narrow(number), bits);
    EXPECT_EQ(kind.narrow(-next), 0x80 | next_bits);
    const float middle = 0.5f * (number + next);
    EXPECT_EQ(kind.narrow(middle), bits % 2 == 0 ? bits : next_bits) << middle;
    EXPECT_EQ(kind.narrow(std::nextafter(middle, 0.0f)), bits);
    EXPECT_EQ(kind.narrow(-std::nextafter(middle, 1e9f)), 0x80 | next_bits);
  }
}

TEST_P(Fp8Numbers, SaturateAndKeepNaN) {
  const Fp8Kind& kind = GetParam();
  EXPECT_EQ(kind.narrow(1e9f), kind.last);
  EXPECT_EQ(kind.narrow(-std::numeric_limits<float>::infinity()), 0x80 | kind.last);
  EXPECT_TRUE(std::isnan(kind.widen(kind.narrow(std::numeric_limits<float>::quiet_NaN()))));
}

INSTANTIATE_TEST_SUITE_P(All, Fp8Numbers,
                         testing::Values(Fp8Kind{"E4M3", 0x7e, &E4M3ToFloat, &FloatToE4M3},
                                         Fp8Kind{"E5M2", 0x7b, &E5M2ToFloat, &FloatToE5M2}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(FloatToE5M2, KnowsItsEnds) {
  EXPECT_EQ(E5M2ToFloat(0x7b), 57344.0f);
  EXPECT_EQ(E5M2ToFloat(0x01), 0x1p-16f);
  EXPECT_EQ(E5M2ToFloat(0x3d), 1.25f);
}

}  // namespace
}  // namespace adit
