#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/test_tables.h"

namespace adit::kernels {
namespace {

// Below, at and above the vectors of every set, with tails; and real widths.
const std::vector<int64_t> kSizes = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 576, 1000, 2049};

TEST(RmsNorm, AgreesWithDoublePrecision) {
  for (const KernelTable* table : TestTables()) {
    for (const int64_t dim : kSizes) {
      SCOPED_TRACE(testing::Message() << table->name << ", dim " << dim);
      RandomFloats random(static_cast<uint32_t>(dim));
      const MisalignedFloats source(random.Vector(dim, 3.0f));
      MisalignedFloats x = source;
      MisalignedFloats weight(random.Vector(dim));
      MisalignedFloats out(std::vector<float>(static_cast<size_t>(dim)));
      table->rms_norm({.x = x.data(),
                       .x_stride = dim,
                       .weight = weight.data(),
                       .eps = 1e-5f,
                       .num_rows = 1,
                       .dim = dim,
                       .out = out.data(),
                       .out_stride = dim});

      double squares = 0.0;
      for (const float v : x.span()) squares += double{v} * v;
      const double inverse = 1.0 / std::sqrt(squares / static_cast<double>(dim) + double{1e-5f});
      std::vector<double> want;
      std::vector<double> tolerance;
      for (size_t i = 0; i < static_cast<size_t>(dim); ++i) {
        want.push_back(x[i] * inverse * weight[i]);
        // Half of the sum's relative error, which the root halves, and five roundings.
        tolerance.push_back((static_cast<double>(dim) / 2 + 5) * kEpsilon * std::abs(want.back()));
      }
      EXPECT_TRUE(AllWithin(out.span(), want, tolerance));
      EXPECT_TRUE(out.MarginsIntact());

      MisalignedFloats in_place = source;
      table->rms_norm({.x = in_place.data(),
                       .x_stride = dim,
                       .weight = weight.data(),
                       .eps = 1e-5f,
                       .num_rows = 1,
                       .dim = dim,
                       .out = in_place.data(),
                       .out_stride = dim});
      EXPECT_TRUE(SameBits(in_place.span(), out.span()));
    }
  }
}

TEST(RmsNorm, GivesARowTheSameBitsWhateverItsCompany) {
  constexpr int64_t kRows = 5;
  for (const KernelTable* table : TestTables()) {
    for (const int64_t dim : kSizes) {
      SCOPED_TRACE(testing::Message() << table->name << ", dim " << dim);
      RandomFloats random(static_cast<uint32_t>(dim) + 7);
      const int64_t stride = dim + 3;
      const std::vector<float> x = random.Vector(kRows * stride);
      const std::vector<float> weight = random.Vector(dim);
      std::vector<float> together(static_cast<size_t>(kRows * dim));
      table->rms_norm({.x = x.data(),
                       .x_stride = stride,
                       .weight = weight.data(),
                       .eps = 1e-6f,
                       .num_rows = kRows,
                       .dim = dim,
                       .out = together.data(),
                       .out_stride = dim});
      for (int64_t row = 0; row < kRows; ++row) {
        MisalignedFloats alone{std::span(x).subspan(static_cast<size_t>(row * stride), static_cast<size_t>(dim))};
        table->rms_norm({.x = alone.data(),
                         .x_stride = 0,
                         .weight = weight.data(),
                         .eps = 1e-6f,
                         .num_rows = 1,
                         .dim = dim,
                         .out = alone.data(),
                         .out_stride = 0});
        const auto row_of_many = std::span(together).subspan(static_cast<size_t>(row * dim), static_cast<size_t>(dim));
        EXPECT_TRUE(SameBits(alone.span(), row_of_many)) << "row " << row;
      }
    }
  }
}

TEST(RmsNorm, OfZerosIsZeros) {
  for (const KernelTable* table : TestTables()) {
    std::vector<float> x(37, 0.0f);
    const std::vector<float> weight(37, 2.0f);
    table->rms_norm({.x = x.data(),
                     .x_stride = 37,
                     .weight = weight.data(),
                     .eps = 1e-5f,
                     .num_rows = 1,
                     .dim = 37,
                     .out = x.data(),
                     .out_stride = 37});
    EXPECT_EQ(x, std::vector<float>(37, 0.0f)) << table->name;
  }
}

struct LayerNormCase {
  int64_t dim;
  bool has_bias;
  float mean;
};

std::vector<LayerNormCase> LayerNormCases() {
  std::vector<LayerNormCase> cases;
  for (const int64_t dim : kSizes) {
    for (const float mean : {0.0f, 100.0f}) cases.insert(cases.end(), {{dim, true, mean}, {dim, false, mean}});
  }
  return cases;
}

// Bounds of the values and how far rounding may take them: of the mean, half a unit for each addition; of x - mean; of
// the root mean square; of the products and the sum.
void ExpectLayerNorm(std::span<const float> x, const float* weight, const float* bias, std::span<const float> got) {
  const auto n = static_cast<double>(x.size());
  double sum = 0.0;
  double magnitude = 0.0;
  for (const float v : x) {
    sum += v;
    magnitude += std::abs(v);
  }
  const double mean = sum / n;
  const double mean_error = (n / 8 + 12) * kEpsilon * magnitude / n;
  double squares = 0.0;
  for (const float v : x) squares += (v - mean) * (v - mean);
  const double deviation = std::sqrt(squares / n + double{1e-5f});
  std::vector<double> want;
  std::vector<double> tolerance;
  for (size_t i = 0; i < x.size(); ++i) {
    const double scaled = (x[i] - mean) / deviation * weight[i];
    const double shift = bias == nullptr ? 0.0 : bias[i];
    want.push_back(scaled + shift);
    // The same error of the mean in each x - mean shifts all of them, and adds its square to the variance.
    const double difference_error = mean_error + std::abs(x[i] - mean) * kEpsilon;
    const double variance_error = (n / 2 + 8) * kEpsilon + (mean_error / deviation) * (mean_error / deviation);
    tolerance.push_back(difference_error / deviation * std::abs(weight[i]) +
                        (variance_error + 6 * kEpsilon) * std::abs(scaled) +
                        2 * kEpsilon * (std::abs(shift) + std::abs(scaled)));
  }
  EXPECT_TRUE(AllWithin(got, want, tolerance));
}

TEST(LayerNorm, AgreesWithDoublePrecision) {
  for (const KernelTable* table : TestTables()) {
    for (const LayerNormCase& c : LayerNormCases()) {
      SCOPED_TRACE(testing::Message() << table->name << ", dim " << c.dim << ", mean " << c.mean);
      RandomFloats random(static_cast<uint32_t>(c.dim));
      std::vector<float> values = random.Vector(c.dim, 3.0f);
      for (float& value : values) value += c.mean;
      const MisalignedFloats source(values);
      MisalignedFloats x = source;
      MisalignedFloats weight(random.Vector(c.dim));
      MisalignedFloats bias(random.Vector(c.dim));
      MisalignedFloats out(std::vector<float>(static_cast<size_t>(c.dim)));
      LayerNormArgs args = {.x = x.data(),
                            .x_stride = c.dim,
                            .weight = weight.data(),
                            .bias = c.has_bias ? bias.data() : nullptr,
                            .eps = 1e-5f,
                            .num_rows = 1,
                            .dim = c.dim,
                            .out = out.data(),
                            .out_stride = c.dim};
      table->layer_norm(args);
      ExpectLayerNorm(x.span(), weight.data(), args.bias, out.span());
      EXPECT_TRUE(out.MarginsIntact());

      MisalignedFloats in_place = source;
      args.x = in_place.data();
      args.out = in_place.data();
      table->layer_norm(args);
      EXPECT_TRUE(SameBits(in_place.span(), out.span()));
    }
  }
}

TEST(LayerNorm, GivesARowTheSameBitsWhateverItsCompany) {
  constexpr int64_t kRows = 3;
  for (const KernelTable* table : TestTables()) {
    for (const int64_t dim : kSizes) {
      RandomFloats random(static_cast<uint32_t>(dim) + 7);
      const int64_t stride = dim + 5;
      const std::vector<float> x = random.Vector(kRows * stride);
      const std::vector<float> weight = random.Vector(dim);
      const std::vector<float> bias = random.Vector(dim);
      std::vector<float> together(static_cast<size_t>(kRows * dim));
      LayerNormArgs args = {.x = x.data(),
                            .x_stride = stride,
                            .weight = weight.data(),
                            .bias = bias.data(),
                            .eps = 1e-12f,
                            .num_rows = kRows,
                            .dim = dim,
                            .out = together.data(),
                            .out_stride = dim};
      table->layer_norm(args);
      args.num_rows = 1;
      for (int64_t row = 0; row < kRows; ++row) {
        MisalignedFloats alone{std::span(x).subspan(static_cast<size_t>(row * stride), static_cast<size_t>(dim))};
        args.x = args.out = alone.data();
        table->layer_norm(args);
        const auto row_of_many = std::span(together).subspan(static_cast<size_t>(row * dim), static_cast<size_t>(dim));
        EXPECT_TRUE(SameBits(alone.span(), row_of_many)) << table->name << ", dim " << dim << ", row " << row;
      }
    }
  }
}

TEST(LayerNorm, OfEqualNumbersIsTheBias) {
  for (const KernelTable* table : TestTables()) {
    std::vector<float> x(37, 4.0f);
    const std::vector<float> weight(37, 2.0f);
    const std::vector<float> bias(37, 0.5f);
    table->layer_norm({.x = x.data(),
                       .x_stride = 37,
                       .weight = weight.data(),
                       .bias = bias.data(),
                       .eps = 1e-5f,
                       .num_rows = 1,
                       .dim = 37,
                       .out = x.data(),
                       .out_stride = 37});
    EXPECT_EQ(x, bias) << table->name;
  }
}

}  // namespace
}  // namespace adit::kernels
