#include "nn/hadamard.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace adit::nn {
namespace {

std::vector<float> RandomVector(int size, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(size));
  for (float& value : x) value = normal(random);
  return x;
}

// Element (i, j) of Sylvester's matrix is -1 to the number of ones that i and j share.
TEST(SpreadVectors, MultipliesByTheMatrix) {
  for (const int dim : {1, 2, 8, 24, 64, 80, 128}) {
    const int order = dim & -dim;
    const std::vector<float> x = RandomVector(3 * dim, 5);
    std::vector<float> got = x;
    SpreadVectors(got.data(), 3, dim);
    for (int i = 0; i < 3 * dim; ++i) {
      double want = 0.0;
      for (int j = 0; j < order; ++j) {
        const double sign = std::popcount(static_cast<uint32_t>(i % order & j)) % 2 == 0 ? 1.0 : -1.0;
        want += sign * static_cast<double>(x[static_cast<size_t>(i / order * order + j)]);
      }
      ASSERT_NEAR(static_cast<double>(got[static_cast<size_t>(i)]), want / std::sqrt(order), 1e-5) << dim << ", " << i;
    }
  }
}

TEST(SpreadVectors, SpreadsWhatIsLargeInOneElement) {
  std::vector<float> x(64, 0.0f);
  x[17] = 8.0f;
  SpreadVectors(x.data(), 1, 64);
  for (const float value : x) EXPECT_EQ(std::abs(value), 1.0f);
}

TEST(SpreadVectors, LeavesProductsOfVectors) {
  std::vector<float> a = RandomVector(128, 6);
  std::vector<float> b = RandomVector(128, 7);
  const auto product = [&] {
    double sum = 0.0;
    for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  const double before = product();
  SpreadVectors(a.data(), 1, 128);
  SpreadVectors(b.data(), 1, 128);
  EXPECT_NEAR(product(), before, 1e-4);
}

}  // namespace
}  // namespace adit::nn
