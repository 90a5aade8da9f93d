#include "quant/gptq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/dispatch.h"
#include "quant/outer_products.h"
#include "tensor/encode_search.h"
#include "tensor/fp8.h"

namespace adit::quant {
namespace {

class Gptq : public testing::TestWithParam<int> {
 protected:
  Gptq() : team_(*WorkerTeam::Create(GetParam())) {}
  nn::ExecContext context() { return {**kernels::SelectKernels("auto"), *team_}; }

  std::unique_ptr<WorkerTeam> team_;
};

// Inputs whose columns depend on each other: [n, tokens].
std::vector<float> Inputs(int64_t n, int64_t tokens, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> x(static_cast<size_t>(n * tokens));
  for (int64_t t = 0; t < tokens; ++t) {
    float common = normal(random);
    for (int64_t i = 0; i < n; ++i) {
      common = 0.8f * common + 0.6f * normal(random);
      x[static_cast<size_t>(i * tokens + t)] = common * (i % 7 == 3 ? 4.0f : 1.0f);
    }
  }
  return x;
}

std::vector<float> Hessian(const std::vector<float>& x, int64_t n, int64_t tokens) {
  std::vector<float> h(static_cast<size_t>(n * n));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = 0.0;
      for (int64_t t = 0; t < tokens; ++t) {
        sum += static_cast<double>(x[static_cast<size_t>(i * tokens + t)]) * x[static_cast<size_t>(j * tokens + t)];
      }
      h[static_cast<size_t>(i * n + j)] = static_cast<float>(sum);
    }
  }
  return h;
}

std::vector<float> Weights(int64_t rows, int64_t n) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0.0f, 0.05f);
  std::vector<float> w(static_cast<size_t>(rows * n));
  for (float& x : w) x = normal(random);
  return w;
}

// The same step for all columns of a row.
BlockGrid EvenGrid(int num_codes, float step) {
  BlockGrid grid;
  grid.num_codes = num_codes;
  grid.step.fill(step);
  grid.low.fill(-step * static_cast<float>(num_codes / 2));
  return grid;
}

// The paper's own form, in double precision: the inverse of the damped Hessian; column after column, what rounding
// leaves, over the diagonal, is taken from the columns that follow by the row of the inverse, which then loses that
// column (optimal brain surgery).
std::vector<float> ReferenceRow(std::vector<double> w, std::vector<double> inverse, const BlockGrid& grid) {
  const size_t n = w.size();
  std::vector<float> out(n);
  for (size_t k = 0; k < n; ++k) {
    const auto value = static_cast<double>(grid.Value(0, grid.Nearest(0, static_cast<float>(w[k]))));
    out[k] = static_cast<float>(value);
    const double error = (w[k] - value) / inverse[k * n + k];
    for (size_t j = k; j < n; ++j) w[j] -= error * inverse[k * n + j];
    const double pivot = inverse[k * n + k];
    const std::vector<double> row(inverse.begin() + static_cast<ptrdiff_t>(k * n),
                                  inverse.begin() + static_cast<ptrdiff_t>((k + 1) * n));
    for (size_t i = k + 1; i < n; ++i) {
      for (size_t j = k + 1; j < n; ++j) inverse[i * n + j] -= row[i] * row[j] / pivot;
    }
  }
  return out;
}

// Gauss and Jordan.
std::vector<double> Inverse(std::vector<double> a, size_t n) {
  std::vector<double> inverse(n * n);
  for (size_t i = 0; i < n; ++i) inverse[i * n + i] = 1.0;
  for (size_t k = 0; k < n; ++k) {
    const double pivot = a[k * n + k];
    for (size_t j = 0; j < n; ++j) {
      a[k * n + j] /= pivot;
      inverse[k * n + j] /= pivot;
    }
    for (size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      const double factor = a[i * n + k];
      for (size_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  return inverse;
}

TEST_P(Gptq, OuterProductsAreSums) {
  constexpr int64_t kN = 150, kTokens = 37;
  const std::vector<float> x = Inputs(kN, kTokens, 1);
  const std::vector<float> wanted = Hessian(x, kN, kTokens);
  std::vector<float> got(wanted.size());
  ASSERT_TRUE(AddOuterProducts(x, kN, kTokens, 1.0f, context(), got.data(), kN).ok());
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const auto at = static_cast<size_t>(i * kN + j);
      EXPECT_NEAR(got[at], wanted[at], 1e-3f + 1e-5f * std::abs(wanted[at])) << i << " " << j;
    }
  }
  ASSERT_TRUE(AddOuterProducts(x, kN, kTokens, -1.0f, context(), got.data(), kN).ok());
  for (int64_t i = 0; i < kN; ++i) EXPECT_NEAR(got[static_cast<size_t>(i * kN + i)], 0.0f, 1e-2f);
}

TEST_P(Gptq, IsThePapersRecurrence) {
  constexpr int64_t kN = 300, kTokens = 900, kRows = 6;
  const std::vector<float> x = Inputs(kN, kTokens, 2);
  const std::vector<float> hessian = Hessian(x, kN, kTokens);
  const std::vector<float> weights = Weights(kRows, kN);
  const BlockGrid grid = EvenGrid(16, 0.02f);
  auto factor = GptqFactor::Make(hessian, kN, {.damping = 0.01f, .act_order = false}, context());
  ASSERT_TRUE(factor.ok()) << factor.status().ToString();
  const std::vector<BlockGrid> grids(static_cast<size_t>(kRows * 2), grid);
  std::vector<uint8_t> codes(weights.size());
  factor->ChooseCodes(weights.data(), kRows, grids, kN / 2, codes.data());

  double mean = 0.0;
  for (int64_t i = 0; i < kN; ++i) mean += static_cast<double>(hessian[static_cast<size_t>(i * kN + i)]) / kN;
  std::vector<double> damped(hessian.size());
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      damped[static_cast<size_t>(i * kN + j)] = hessian[static_cast<size_t>(std::max(i, j) * kN + std::min(i, j))];
    }
    damped[static_cast<size_t>(i * kN + i)] += 0.01 * mean;
  }
  const std::vector<double> inverse = Inverse(damped, kN);
  int different = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    const std::vector<float> wanted =
        ReferenceRow({weights.begin() + row * kN, weights.begin() + (row + 1) * kN}, inverse, grid);
    // In single precision a weight next to a border may fall on its other side, and what follows with it.
    for (int64_t k = 0; k < kN; ++k) {
      const float value = grid.Value(0, codes[static_cast<size_t>(row * kN + k)]);
      if (std::abs(value - wanted[static_cast<size_t>(k)]) > 1e-5f) {
        ++different;
        break;
      }
    }
  }
  EXPECT_LE(different, 1);
}

// Of the outputs over the inputs: sum of squares of (W - Q) x.
double OutputError(const std::vector<float>& w, const std::vector<float>& q, const std::vector<float>& x, int64_t rows,
                   int64_t n, int64_t tokens) {
  double sum = 0.0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t t = 0; t < tokens; ++t) {
      double y = 0.0;
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(row * n + i);
        y += static_cast<double>(w[at] - q[at]) * x[static_cast<size_t>(i * tokens + t)];
      }
      sum += y * y;
    }
  }
  return sum;
}

TEST_P(Gptq, LowersTheErrorOfOutputsForEveryType) {
  constexpr int64_t kN = 512, kTokens = 700, kRows = 8;
  const std::vector<float> x = Inputs(kN, kTokens, 3);
  const std::vector<float> weights = Weights(kRows, kN);
  for (const bool act_order : {false, true}) {
    auto factor = GptqFactor::Make(Hessian(x, kN, kTokens), kN, {.act_order = act_order}, context());
    ASSERT_TRUE(factor.ok());
    for (const DType dtype : {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ2_K, DType::kQ3_K, DType::kQ4_K,
                              DType::kQ5_K, DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS}) {
      std::vector<std::byte> plain(RowBytes(dtype, kN) * kRows);
      std::vector<std::byte> gptq(plain.size());
      std::vector<float> importance;
      for (int64_t i = 0; i < kRows; ++i) {
        importance.insert(importance.end(), factor->importance().begin(), factor->importance().end());
      }
      SearchEncodeFor(dtype)(weights.data(), importance.data(), plain.data(), kRows * kN);
      factor->EncodeRows(dtype, nullptr, weights.data(), kRows, gptq.data());
      std::vector<float> plain_values(weights.size()), gptq_values(weights.size());
      Traits(dtype).decode(plain.data(), plain_values.data(), kRows * kN);
      Traits(dtype).decode(gptq.data(), gptq_values.data(), kRows * kN);
      EXPECT_LT(OutputError(weights, gptq_values, x, kRows, kN, kTokens),
                0.7 * OutputError(weights, plain_values, x, kRows, kN, kTokens))
          << Traits(dtype).name << " " << act_order;
    }
  }
}

TEST_P(Gptq, LowersTheErrorOfOutputsForFp8) {
  constexpr int64_t kN = 256, kTokens = 700, kRows = 8;
  const std::vector<float> x = Inputs(kN, kTokens, 3);
  const std::vector<float> weights = Weights(kRows, kN);
  auto factor = GptqFactor::Make(Hessian(x, kN, kTokens), kN, {}, context());
  ASSERT_TRUE(factor.ok());
  for (const Fp8Blocks blocks : {Fp8Blocks{}, Fp8Blocks{.rows = 0}, Fp8Blocks{.rows = 4, .cols = 128}}) {
    Fp8Scales scales(blocks, kRows, kN);
    for (int64_t row = 0; row < kRows; ++row) scales.Add(row, weights.data() + row * kN);
    scales.Finish();
    std::vector<std::byte> bytes(RowBytes(DType::kFp8, kN) * kRows);
    // In two parts: the second begins at its own row's scales.
    constexpr int64_t kFirst = 5;
    factor->EncodeFp8Rows(scales, weights.data(), 0, kFirst, bytes.data());
    factor->EncodeFp8Rows(scales, weights.data() + kFirst * kN, kFirst, kRows - kFirst,
                          bytes.data() + static_cast<size_t>(kFirst) * RowBytes(DType::kFp8, kN));
    std::vector<float> gptq(weights.size()), plain(weights.size());
    Traits(DType::kFp8).decode(bytes.data(), gptq.data(), kRows * kN);
    for (int64_t row = 0; row < kRows; ++row) {
      for (int64_t col = 0; col < kN; ++col) {
        const auto at = static_cast<size_t>(row * kN + col);
        const float scale = scales.Scale(row, col);
        plain[at] = scale * E4M3ToFloat(FloatToE4M3(weights[at] / scale));
      }
    }
    EXPECT_LT(OutputError(weights, gptq, x, kRows, kN, kTokens),
              0.7 * OutputError(weights, plain, x, kRows, kN, kTokens))
        << blocks.rows << " " << blocks.cols;
  }
}

TEST_P(Gptq, ColumnsThatWereAlwaysZeroAreRoundedByThemselves) {
  constexpr int64_t kN = 64;
  std::vector<float> x = Inputs(kN, 200, 4);
  for (int64_t t = 0; t < 200; ++t) x[static_cast<size_t>(7 * 200 + t)] = 0.0f;
  auto factor = GptqFactor::Make(Hessian(x, kN, 200), kN, {}, context());
  ASSERT_TRUE(factor.ok());
  const std::vector<float> weights = Weights(1, kN);
  const std::vector<BlockGrid> grids(1, EvenGrid(16, 0.02f));
  std::vector<uint8_t> codes(kN);
  factor->ChooseCodes(weights.data(), 1, grids, kN, codes.data());
  EXPECT_EQ(codes[7], grids[0].Nearest(0, weights[7]));
}

TEST_P(Gptq, RefusesWhatIsNoNumber) {
  std::vector<float> hessian(16, 0.0f);
  hessian[5] = NAN;
  EXPECT_FALSE(GptqFactor::Make(hessian, 4, {}, context()).ok());
}

INSTANTIATE_TEST_SUITE_P(Threads, Gptq, testing::Values(1, 2));

}  // namespace
}  // namespace adit::quant
