#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/matmul.h"
#include "kernels/test_data.h"
#include "kernels/test_tables.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace adit::kernels {
namespace {

// Rows of random weights of one type. Scales of block types are halves: bytes are random but for the exponents' top
// bits, so that no scale is infinite or NaN.
struct Weights {
  DType dtype;
  int64_t num_rows;
  int64_t num_cols;
  std::vector<std::byte> bytes;

  Weights(DType type, int64_t rows, int64_t cols, uint32_t seed) : dtype(type), num_rows(rows), num_cols(cols) {
    RandomFloats random(seed);
    bytes.resize(static_cast<size_t>(rows) * RowBytes(type, cols));
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.NextInt(0, 255));
    if (Traits(type).block_elements == 1) {
      for (int64_t i = 0; i < rows * cols; ++i) SetPlain(i, random.Next());
      return;
    }
    for (std::byte& b : bytes) b &= std::byte{0xbb};  // of the second byte of a half: exponent below 24
  }

  void SetPlain(int64_t i, float value) {
    const uint16_t half = dtype == DType::kF16 ? FloatToHalf(value) : FloatToBf16(value);
    if (dtype == DType::kF32) {
      std::memcpy(bytes.data() + 4 * i, &value, 4);
    } else {
      std::memcpy(bytes.data() + 2 * i, &half, 2);
    }
  }
  std::vector<float> Row(int64_t row) const {
    std::vector<float> decoded(static_cast<size_t>(num_cols));
    Traits(dtype).decode(bytes.data() + static_cast<size_t>(row) * RowBytes(dtype, num_cols), decoded.data(), num_cols);
    return decoded;
  }
};

// Columns for a type: some that end within a piece of 256, for plain types also within eight.
std::vector<int64_t> Columns(DType dtype) {
  const int64_t block = Traits(dtype).block_elements;
  if (block == 1) return {1, 7, 8, 100, 256, 261, 700};
  return {block, 2 * block, 256, 768, 512 + block};
}

const WeightKernels& RefKernels(DType dtype) { return RefTable().weights[static_cast<int>(dtype)]; }

MatmulArgs ArgsOf(const Weights& weights, const std::vector<float>& x, int64_t num_tokens, std::vector<float>& out) {
  out.assign(static_cast<size_t>(num_tokens * weights.num_rows), 0.0f);
  return {.weights = weights.bytes.data(),
          .num_rows = weights.num_rows,
          .num_cols = weights.num_cols,
          .activations = {.f32 = x.data(), .f32_stride = weights.num_cols},
          .num_tokens = num_tokens,
          .out = out.data(),
          .out_stride = weights.num_rows};
}

TEST(RefMatmul, AgreesWithDoublePrecisionForEveryType) {
  for (int type = 0; type < kNumDTypes; ++type) {
    const auto dtype = static_cast<DType>(type);
    for (const int64_t num_cols : Columns(dtype)) {
      SCOPED_TRACE(testing::Message() << Traits(dtype).name << ", columns " << num_cols);
      const Weights weights(dtype, 3, num_cols, static_cast<uint32_t>(type));
      constexpr int64_t kTokens = 2;
      const std::vector<float> x = RandomFloats(9).Vector(kTokens * num_cols);
      std::vector<float> out;
      const MatmulArgs args = ArgsOf(weights, x, kTokens, out);
      EXPECT_EQ(RefKernels(dtype).panel_bytes(num_cols), RowBytes(dtype, num_cols));
      RefKernels(dtype).matmul(args, 0, weights.num_rows);
      std::vector<double> want;
      std::vector<double> tolerance;
      for (int64_t t = 0; t < kTokens; ++t) {
        for (int64_t row = 0; row < weights.num_rows; ++row) {
          const std::vector<float> w = weights.Row(row);
          double sum = 0.0;
          double magnitude = 0.0;
          for (int64_t k = 0; k < num_cols; ++k) {
            const double product = double{w[static_cast<size_t>(k)]} * x[static_cast<size_t>(t * num_cols + k)];
            sum += product;
            magnitude += std::abs(product);
          }
          want.push_back(sum);
          // A product is rounded once, and passes through at most columns / 8 + 4 sums.
          tolerance.push_back((static_cast<double>(num_cols) / 8 + 5) * kEpsilon * magnitude);
        }
      }
      EXPECT_TRUE(AllWithin(out, want, tolerance));
    }
  }
}

TEST(RefMatmul, GivesATokenTheSameBitsWhateverItsCompanyAndThePanels) {
  constexpr int64_t kTokens = 131;  // more than two tiles
  constexpr int64_t kCols = 288;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kQ8_0, DType::kQ4_0}) {
    const Weights weights(dtype, 5, kCols, 21);
    const std::vector<float> x = RandomFloats(22).Vector(kTokens * kCols);
    std::vector<float> together;
    RefKernels(dtype).matmul(ArgsOf(weights, x, kTokens, together), 0, 5);
    std::vector<float> by_panels;
    const MatmulArgs args = ArgsOf(weights, x, kTokens, by_panels);
    RefKernels(dtype).matmul(args, 3, 5);
    RefKernels(dtype).matmul(args, 0, 1);
    RefKernels(dtype).matmul(args, 1, 3);
    EXPECT_TRUE(SameBits(by_panels, together)) << Traits(dtype).name;
    for (int64_t t = 0; t < kTokens; ++t) {
      const std::vector<float> token(x.begin() + t * kCols, x.begin() + (t + 1) * kCols);
      std::vector<float> alone;
      RefKernels(dtype).matmul(ArgsOf(weights, token, 1, alone), 0, 5);
      EXPECT_TRUE(SameBits(alone, std::span(together).subspan(static_cast<size_t>(t * 5), 5))) << Traits(dtype).name;
    }
  }
}

TEST(RefMatmul, AddsTheBiasAndAccumulates) {
  const Weights weights(DType::kF32, 4, 20, 31);
  const std::vector<float> x = RandomFloats(32).Vector(40);
  const std::vector<float> bias = {1.0f, -2.0f, 3.0f, 0.5f};
  std::vector<float> product;
  RefKernels(DType::kF32).matmul(ArgsOf(weights, x, 2, product), 0, 4);
  std::vector<float> out;
  MatmulArgs args = ArgsOf(weights, x, 2, out);
  out.assign(out.size(), 10.0f);
  args.bias = bias.data();
  args.accumulate = true;
  RefKernels(DType::kF32).matmul(args, 0, 4);
  for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], 10.0f + (product[i] + bias[i % 4])) << i;
}

}  // namespace
}  // namespace adit::kernels
