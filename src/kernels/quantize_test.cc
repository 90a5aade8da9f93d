#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/matmul.h"
#include "kernels/test_data.h"
#include "kernels/test_tables.h"

namespace adit::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

// A row as quantize_q8 writes it, its parts taken out.
struct Q8Row {
  std::vector<int8_t> codes;
  std::vector<float> scales;
  std::vector<int32_t> sums;
  std::vector<bool> coded;  // of each block
};

Q8Row Quantize(const KernelTable& table, std::span<const float> x) {
  const auto num_cols = static_cast<int64_t>(x.size());
  MisalignedFloats source(x);
  std::vector<std::byte> row(static_cast<size_t>(Q8RowBytes(num_cols)) + 1, std::byte{0x5a});
  table.quantize_q8(source.data(), num_cols, row.data());
  EXPECT_EQ(row.back(), std::byte{0x5a}) << "wrote past the row";
  Q8Row parts = {std::vector<int8_t>(x.size()), std::vector<float>(x.size() / 32), std::vector<int32_t>(x.size() / 16)};
  std::memcpy(parts.codes.data(), row.data(), parts.codes.size());
  std::memcpy(parts.scales.data(), row.data() + Q8ScalesOffset(num_cols), parts.scales.size() * 4);
  for (int64_t block = 0; block < num_cols / 32; ++block) {
    const std::byte bits = row[static_cast<size_t>(Q8CodedOffset(num_cols) + block / 8)];
    parts.coded.push_back((bits >> block % 8 & std::byte{1}) != std::byte{0});
  }
  std::memcpy(parts.sums.data(), row.data() + Q8SumsOffset(num_cols), parts.sums.size() * 4);
  return parts;
}

void ExpectSumsOfCodes(const Q8Row& row) {
  for (size_t block = 0; block < row.coded.size(); ++block) {
    const auto codes = std::span(row.codes).subspan(block * 32, 32);
    EXPECT_EQ(row.coded[block], std::ranges::any_of(codes, [](int8_t code) { return code != 0; })) << "block " << block;
  }
  for (size_t i = 0; i < row.sums.size(); ++i) {
    int32_t sum = 0;
    for (size_t j = 0; j < 16; ++j) sum += row.codes[16 * i + j];
    EXPECT_EQ(row.sums[i], sum) << "sum " << i;
  }
}

TEST(QuantizeQ8, FollowsItsDefinition) {
  for (const KernelTable* table : TestTables()) {
    for (const int64_t num_cols : {32, 64, 96, 160, 576, 1536}) {
      SCOPED_TRACE(testing::Message() << table->name << ", columns " << num_cols);
      RandomFloats random(static_cast<uint32_t>(num_cols));
      const std::vector<float> x = random.Vector(num_cols, 5.0f);
      const Q8Row row = Quantize(*table, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const auto block = std::span(x).subspan(i / 32 * 32, 32);
        float largest = 0.0f;
        for (const float v : block) largest = std::max(largest, std::abs(v));
        const float scale = largest / 127.0f;
        EXPECT_EQ(row.scales[i / 32], scale);
        EXPECT_EQ(row.codes[i], std::lrint(x[i] / scale)) << "element " << i;
      }
      ExpectSumsOfCodes(row);
    }
  }
}

TEST(QuantizeQ8, RoundsHalvesToEven) {
  std::vector<float> x(32, 0.0f);
  x[0] = 127.0f;  // the scale is 1
  const std::vector<float> halves = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 125.5f, 126.5f, -126.5f};
  const std::vector<int8_t> codes = {0, 2, 2, 0, -2, -2, 126, 126, -126};
  std::ranges::copy(halves, x.begin() + 1);
  for (const KernelTable* table : TestTables()) {
    const Q8Row row = Quantize(*table, x);
    EXPECT_EQ(row.scales[0], 1.0f);
    EXPECT_TRUE(std::equal(codes.begin(), codes.end(), row.codes.begin() + 1)) << table->name;
    ExpectSumsOfCodes(row);
  }
}

TEST(QuantizeQ8, GivesTheSameBitsInEverySet) {
  RandomFloats random(17);
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t num_cols = 32 * random.NextInt(1, 9);
    std::vector<float> x = random.Vector(num_cols, std::ldexp(1.0f, static_cast<int>(random.NextInt(-149, 126))));
    for (float& value : x) {
      const int64_t kind = random.NextInt(0, 400);
      if (kind == 0) value = kInfinity;
      if (kind == 1) value = kNaN;
      if (kind < 40 && kind > 30) value = 0.0f;
    }
    const Q8Row want = Quantize(RefTable(), x);
    for (const KernelTable* table : TestTables()) {
      const Q8Row got = Quantize(*table, x);
      EXPECT_EQ(got.codes, want.codes) << table->name;
      EXPECT_TRUE(SameBits(got.scales, want.scales)) << table->name;
      EXPECT_EQ(got.sums, want.sums) << table->name;
    }
  }
}

TEST(QuantizeQ8, OfZerosHasScaleZero) {
  for (const KernelTable* table : TestTables()) {
    const Q8Row row = Quantize(*table, std::vector<float>(64, -0.0f));
    EXPECT_EQ(row.codes, std::vector<int8_t>(64, 0));
    EXPECT_EQ(row.scales, std::vector<float>(2, 0.0f));
    EXPECT_EQ(row.sums, std::vector<int32_t>(4, 0));
  }
}

TEST(QuantizeQ8, KeepsInfinityAndNaNInTheScaleOfTheirBlock) {
  for (const float special : {kInfinity, -kInfinity, kNaN}) {
    std::vector<float> x(96, 1.0f);
    x[40] = special;
    for (const KernelTable* table : TestTables()) {
      const Q8Row row = Quantize(*table, x);
      EXPECT_EQ(row.scales[0], 1.0f / 127.0f) << table->name;
      EXPECT_FALSE(std::isfinite(row.scales[1])) << table->name;
      EXPECT_EQ(row.scales[2], 1.0f / 127.0f) << table->name;
      EXPECT_TRUE(std::all_of(row.codes.begin() + 32, row.codes.begin() + 64, [](int8_t c) { return c == 0; }));
    }
  }
}

TEST(QuantizeQ8, KeepsCodesOfSubnormalBlocksInRange) {
  // The largest over 127 rounds to 2^-149 here, and x over that is 190.
  std::vector<float> x(32, 190 * 0x1p-149f);
  x[1] = -x[0];
  for (const KernelTable* table : TestTables()) {
    const Q8Row row = Quantize(*table, x);
    EXPECT_EQ(row.codes[0], 127) << table->name;
    EXPECT_EQ(row.codes[1], -127) << table->name;
  }
}

}  // namespace
}  // namespace adit::kernels
