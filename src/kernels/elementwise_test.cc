#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
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

struct RopeCase {
  int num_heads;
  int head_dim;
  int num_pairs;
  bool interleaved;
};

std::vector<RopeCase> RopeCases() {
  std::vector<RopeCase> cases;
  for (const int num_pairs : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 32, 40, 64, 65}) {
    for (const int rest : {0, 1, 6}) {
      cases.push_back({3, 2 * num_pairs + rest, num_pairs, false});
      cases.push_back({2, 2 * num_pairs + rest, num_pairs, true});
    }
  }
  return cases;
}

TEST(Rope, AgreesWithDoublePrecisionAndLeavesTheRest) {
  for (const KernelTable* table : TestTables()) {
    for (const RopeCase& c : RopeCases()) {
      SCOPED_TRACE(testing::Message() << table->name << ", head_dim " << c.head_dim << ", pairs " << c.num_pairs
                                      << (c.interleaved ? ", interleaved" : ""));
      RandomFloats random(static_cast<uint32_t>(c.head_dim));
      MisalignedFloats x(random.Vector(int64_t{c.num_heads} * c.head_dim));
      MisalignedFloats cos(random.Vector(c.num_pairs));
      MisalignedFloats sin(random.Vector(c.num_pairs));
      std::vector<double> want(x.span().begin(), x.span().end());
      std::vector<double> tolerance(want.size(), 0.0);
      for (int head = 0; head < c.num_heads; ++head) {
        for (int i = 0; i < c.num_pairs; ++i) {
          const auto base = static_cast<size_t>(head * c.head_dim);
          const size_t a = base + static_cast<size_t>(c.interleaved ? 2 * i : i);
          const size_t b = base + static_cast<size_t>(c.interleaved ? 2 * i + 1 : i + c.num_pairs);
          const double cos_i = cos[static_cast<size_t>(i)];
          const double sin_i = sin[static_cast<size_t>(i)];
          const double x_a = x[a];
          const double x_b = x[b];
          want[a] = x_a * cos_i - x_b * sin_i;
          want[b] = x_b * cos_i + x_a * sin_i;
          tolerance[a] = 2 * kEpsilon * (std::abs(x_a * cos_i) + std::abs(x_b * sin_i));
          tolerance[b] = 2 * kEpsilon * (std::abs(x_b * cos_i) + std::abs(x_a * sin_i));
        }
      }
      table->rope({.x = x.data(),
                   .num_heads = c.num_heads,
                   .head_dim = c.head_dim,
                   .cos = cos.data(),
                   .sin = sin.data(),
                   .num_pairs = c.num_pairs,
                   .interleaved = c.interleaved});
      EXPECT_TRUE(AllWithin(x.span(), want, tolerance));
      EXPECT_TRUE(x.MarginsIntact());
    }
  }
}

TEST(Rope, TurnsAPairTheSameWayInBothLayouts) {
  constexpr int kPairs = 21;
  for (const KernelTable* table : TestTables()) {
    RandomFloats random(5);
    const std::vector<float> cos = random.Vector(kPairs);
    const std::vector<float> sin = random.Vector(kPairs);
    std::vector<float> halves = random.Vector(2 * kPairs);
    std::vector<float> interleaved(halves.size());
    for (size_t i = 0; i < kPairs; ++i) {
      interleaved[2 * i] = halves[i];
      interleaved[2 * i + 1] = halves[i + kPairs];
    }
    RopeArgs args = {.x = halves.data(),
                     .num_heads = 1,
                     .head_dim = 2 * kPairs,
                     .cos = cos.data(),
                     .sin = sin.data(),
                     .num_pairs = kPairs,
                     .interleaved = false};
    table->rope(args);
    args.x = interleaved.data();
    args.interleaved = true;
    table->rope(args);
    for (size_t i = 0; i < kPairs; ++i) {
      EXPECT_EQ(interleaved[2 * i], halves[i]) << table->name << ", pair " << i;
      EXPECT_EQ(interleaved[2 * i + 1], halves[i + kPairs]) << table->name << ", pair " << i;
    }
  }
}

double Activate(Activation activation, double x) {
  if (activation == Activation::kSilu) return x / (1.0 + std::exp(-x));
  const double u = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  // The two are equal; the definition cancels where tanh is near -1.
  return u < -4.0 ? x / (1.0 + std::exp(-2.0 * u)) : 0.5 * x * (1.0 + std::tanh(u));
}

// Relative error of the exponential's argument, which the exponential turns into an absolute one: gelu rounds u five
// times.
double ActivationTolerance(Activation activation, double x) {
  double argument = 0.0;
  if (activation == Activation::kGeluTanh) argument = 2.0 * std::sqrt(2.0 / M_PI) * std::abs(x + 0.044715 * x * x * x);
  const double sensitivity = std::min(argument, 110.0) * (x < 0 ? 1.0 : std::exp(-argument));
  return (6.0 + 5.0 * sensitivity) * kEpsilon;
}

std::vector<float> ActivationInputs() {
  RandomFloats random(11);
  std::vector<float> inputs = {0.0f, -0.0f, 1.0f, -1.0f, 1e-30f, -1e-30f, 88.0f, -86.0f, 1e10f, -1e10f};
  for (int i = 0; i < 4000; ++i) inputs.push_back(random.Next(8.0f));
  for (int i = 0; i < 1000; ++i) inputs.push_back(random.Next(85.0f));
  for (float x = 1e-8f; x < 80.0f; x *= 1.01f) inputs.insert(inputs.end(), {x, -x});
  return inputs;
}

TEST(Glu, AgreesWithDoublePrecision) {
  const std::vector<float> gate = ActivationInputs();
  const std::vector<float> up(gate.size(), 1.5f);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
      SCOPED_TRACE(testing::Message() << table->name << ", activation " << static_cast<int>(activation));
      std::vector<float> out(gate.size());
      table->glu({.gate = gate.data(),
                  .up = up.data(),
                  .out = out.data(),
                  .num_elements = static_cast<int64_t>(gate.size()),
                  .activation = activation});
      std::vector<double> want;
      std::vector<double> tolerance;
      for (const float x : gate) {
        want.push_back(1.5 * Activate(activation, x));
        // Where the exponential is above the largest float, the result is 0.
        tolerance.push_back(ActivationTolerance(activation, x) * std::abs(want.back()) + 0x1p-127 * std::abs(x));
      }
      EXPECT_TRUE(AllWithin(out, want, tolerance));
    }
  }
}

TEST(Glu, GivesAnElementTheSameBitsWhereverItStands) {
  RandomFloats random(3);
  const std::vector<float> gate = random.Vector(70, 4.0f);
  const std::vector<float> up = random.Vector(70);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
      std::vector<float> whole(gate.size());
      table->glu(
          {.gate = gate.data(), .up = up.data(), .out = whole.data(), .num_elements = 70, .activation = activation});
      for (const size_t n : {1u, 2u, 5u, 8u, 11u, 16u, 19u, 33u}) {
        for (size_t begin = 0; begin + n <= gate.size(); begin += 3) {
          MisalignedFloats part{std::span(gate).subspan(begin, n)};
          table->glu({.gate = part.data(),
                      .up = up.data() + begin,
                      .out = part.data(),
                      .num_elements = static_cast<int64_t>(n),
                      .activation = activation});
          ASSERT_TRUE(SameBits(part.span(), std::span(whole).subspan(begin, n)))
              << table->name << ", " << n << " from " << begin;
          ASSERT_TRUE(part.MarginsIntact());
        }
      }
    }
  }
}

TEST(Glu, HandlesExtremes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> gate = {kInfinity, std::numeric_limits<float>::quiet_NaN(), 3e38f, -3e38f};
  const std::vector<float> up(4, 1.0f);
  for (const KernelTable* table : TestTables()) {
    for (const Activation activation : {Activation::kSilu, Activation::kGeluTanh}) {
      std::vector<float> out(4);
      table->glu(
          {.gate = gate.data(), .up = up.data(), .out = out.data(), .num_elements = 4, .activation = activation});
      EXPECT_EQ(out[0], kInfinity) << table->name;
      EXPECT_TRUE(std::isnan(out[1])) << table->name;
      EXPECT_EQ(out[2], 3e38f) << table->name;
      EXPECT_EQ(out[3], 0.0f) << table->name;
    }
  }
}

}  // namespace
}  // namespace adit::kernels
