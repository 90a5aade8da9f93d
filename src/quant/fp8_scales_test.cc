#include "quant/fp8_scales.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tensor/fp8.h"

namespace adit::quant {
namespace {

constexpr int64_t kFp8Rows = 5;
constexpr int64_t kFp8Cols = 96;

// Row r, column c: (r + 1) * 448, negative in the second block of 32 columns, where it is ten times as large.
Fp8Scales ScalesOf(const Fp8Blocks& blocks) {
  Fp8Scales scales(blocks, kFp8Rows, kFp8Cols);
  for (int64_t row = 0; row < kFp8Rows; ++row) {
    std::vector<float> weights(kFp8Cols, kLargestE4M3 * static_cast<float>(row + 1));
    for (size_t col = 32; col < 64; ++col) weights[col] *= -10.0f;
    scales.Add(row, weights.data());
  }
  scales.Finish();
  return scales;
}

TEST(Fp8Scales, OfRowsBlocksAndAllOfAMatrix) {
  const Fp8Scales rows = ScalesOf({});
  EXPECT_EQ(rows.Scale(0, 0), 10.0f);
  EXPECT_EQ(rows.Scale(3, 95), 40.0f);
  const Fp8Scales blocks = ScalesOf({.rows = 2, .cols = 32});
  EXPECT_EQ(blocks.Scale(0, 0), 2.0f);
  EXPECT_EQ(blocks.Scale(1, 40), 20.0f);
  EXPECT_EQ(blocks.Scale(4, 95), 5.0f);
  EXPECT_EQ(ScalesOf({.rows = 0}).Scale(0, 0), 50.0f);
}

TEST(Fp8Scales, TellZerosAndWhatIsNotFinite) {
  Fp8Scales scales({.rows = 2}, kFp8Rows, kFp8Cols);
  std::vector<float> weights(kFp8Cols);
  for (int64_t row = 0; row < kFp8Rows; ++row) {
    weights[7] = row == 2 ? INFINITY : 0.0f;
    scales.Add(row, weights.data());
  }
  scales.Finish();
  EXPECT_EQ(scales.Scale(1, 7), 0.0f);
  EXPECT_TRUE(std::isnan(scales.Scale(3, 0)));
  EXPECT_EQ(scales.Scale(4, 0), 0.0f);
}

}  // namespace
}  // namespace adit::quant
