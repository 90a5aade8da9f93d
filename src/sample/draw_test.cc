#include "sample/draw.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

constexpr double kAlmostOne = 1 - 0x1p-53;

// Equal logits weigh exactly 1, so the walk is integer arithmetic: index i is drawn for uniform in [i / n, (i + 1) /
// n).
TEST(DrawIndex, OfEqualLogitsIsExact) {
  for (const int n : {1, 2, 8, 64, 1'024, 4'096, 16'384}) {
    const std::vector<float> row(static_cast<size_t>(n), 2.75f);
    for (int i = 0; i < n; i += 1 + n / 50) {
      const double begin = static_cast<double>(i) / n;
      ASSERT_EQ(DrawIndex(row, begin), i) << n << " logits";
      ASSERT_EQ(DrawIndex(row, std::nextafter(static_cast<double>(i + 1) / n, 0)), i) << n << " logits";
    }
    EXPECT_EQ(DrawIndex(row, 0), 0);
    EXPECT_EQ(DrawIndex(row, kAlmostOne), n - 1);
  }
}

TEST(DrawIndex, NeverDrawsWhatHasNoWeight) {
  std::vector<float> row(10'000, -kTestInfinity);
  row[5'000] = 1;
  for (const double uniform : {0.0, 0.5, kAlmostOne}) EXPECT_EQ(DrawIndex(row, uniform), 5'000);
  row[7'000] = 1;
  row[7'001] = -99;
  EXPECT_EQ(DrawIndex(row, 0.0), 5'000);
  EXPECT_EQ(DrawIndex(row, 0.4999), 5'000);
  EXPECT_EQ(DrawIndex(row, 0.5), 7'000);
  EXPECT_EQ(DrawIndex(row, kAlmostOne), 7'000);
}

TEST(DrawIndex, InvertsTheDistributionFunction) {
  std::mt19937 rng(1);
  std::uniform_real_distribution<double> uniform_of(0, 1);
  for (const int64_t vocab_size : {2, 100, 1'025, 9'000}) {
    const std::vector<float> row = NormalRow(rng, vocab_size, 2);
    const std::vector<double> exact = ExactLogSoftmax(row);
    for (int round = 0; round < 200; ++round) {
      const double uniform = uniform_of(rng);
      const int64_t drawn = DrawIndex(row, uniform);
      double before = 0;
      for (int64_t i = 0; i < drawn; ++i) before += std::exp(exact[static_cast<size_t>(i)]);
      ASSERT_GE(uniform, before - 3e-6) << "vocabulary " << vocab_size;
      ASSERT_LE(uniform, before + std::exp(exact[static_cast<size_t>(drawn)]) + 3e-6) << "vocabulary " << vocab_size;
    }
  }
}

}  // namespace
}  // namespace adit::sample
