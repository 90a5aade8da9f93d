#include "kernels/elementwise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels/test_data.h"
#include "kernels/test_tables.h"

namespace adit::kernels {
namespace {

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

}  // namespace
}  // namespace adit::kernels
