#include "quant/awq.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "kernels/dispatch.h"

namespace adit::quant {
namespace {

constexpr int64_t kColumns = 128;

class AwqTest : public testing::Test {
 protected:
  AwqTest() : team_(*WorkerTeam::Create(2)) {
    std::mt19937 random(3);
    std::normal_distribution<float> normal;
    AwqRows matrix{.rows = std::vector<float>(16 * kColumns), .dtype = DType::kQ4_0};
    for (float& x : matrix.rows) x = 0.05f * normal(random);
    matrices_.push_back(matrix);
    // Independent columns, a few of which are large.
    hessian_.resize(static_cast<size_t>(kColumns * kColumns));
    for (int64_t i = 0; i < kColumns; ++i)
      hessian_[static_cast<size_t>(i * kColumns + i)] = i % 29 == 5 ? 400.0f : 1.0f;
  }
  nn::ExecContext context() { return {**kernels::SelectKernels("auto"), *team_}; }
  double Loss(const std::vector<float>& scales) { return *AwqLoss(matrices_, hessian_, kColumns, scales, context()); }

  std::unique_ptr<WorkerTeam> team_;
  std::vector<AwqRows> matrices_;
  std::vector<float> hessian_;
};

TEST_F(AwqTest, ChosenFactorsAreTheBestOfTheGrid) {
  const auto chosen = SearchAwqScales(matrices_, hessian_, kColumns, {}, context());
  ASSERT_TRUE(chosen.ok());
  std::vector<float> squares;
  for (int64_t i = 0; i < kColumns; ++i) squares.push_back(hessian_[static_cast<size_t>(i * kColumns + i)]);
  const double loss = Loss(*chosen);
  const std::vector<float> magnitudes = MeanMagnitudes(matrices_, kColumns);
  for (const AwqExponents& exponents : AwqGrid()) {
    EXPECT_LE(loss, Loss(AwqScales(squares, magnitudes, exponents)) * (1.0 + 1e-9))
        << exponents.activations << ' ' << exponents.weights;
  }
  EXPECT_LT(loss, 0.8 * Loss(std::vector<float>(kColumns, 1.0f)));
  EXPECT_GT((*chosen)[5], 1.5f * (*chosen)[6]);
}

TEST_F(AwqTest, TheLossIsTheChangeOfOutputs) {
  // With independent columns: the sum over rows and columns of H[i][i] times the square of the change.
  const std::vector<float> ones(kColumns, 1.0f);
  const double unit = Loss(ones);
  for (float& x : hessian_) x *= 3.0f;
  EXPECT_NEAR(Loss(ones), 3.0 * unit, 1e-3 * unit);
  EXPECT_GT(unit, 0.0);
}

// One column's large weights coarsen those that share a scale with it, which activations alone do not tell.
TEST_F(AwqTest, ColumnsOfLargeWeightsAreScaledDown) {
  for (int64_t i = 0; i < kColumns; ++i) hessian_[static_cast<size_t>(i * kColumns + i)] = 2.0f;
  for (size_t i = 0; i < matrices_[0].rows.size(); ++i) matrices_[0].rows[i] *= i % 32 == 7 ? 6.0f : 1.0f;
  const auto chosen = SearchAwqScales(matrices_, hessian_, kColumns, {}, context());
  EXPECT_LT(Loss(*chosen), 0.6 * Loss(std::vector<float>(kColumns, 1.0f)));
  EXPECT_LT((*chosen)[7], 0.5f * (*chosen)[6]);
}

TEST_F(AwqTest, ColumnsOfOneSizeAreLeft) {
  for (int64_t i = 0; i < kColumns; ++i) hessian_[static_cast<size_t>(i * kColumns + i)] = 2.0f;
  for (size_t i = 0; i < matrices_[0].rows.size(); ++i) {
    matrices_[0].rows[i] = std::copysign(static_cast<float>(1 + i / kColumns), matrices_[0].rows[i]);
  }
  const auto chosen = SearchAwqScales(matrices_, hessian_, kColumns, {}, context());
  for (const float scale : *chosen) EXPECT_NEAR(scale, 1.0f, 1e-6f);
}

TEST(AwqScales, GrowWithActivationsAndShrinkWithWeights) {
  const std::vector<float> squares = {1.0f, 16.0f, 0.0f, 1.0f};
  const std::vector<float> magnitudes = {1.0f, 1.0f, 0.0f, 4.0f};
  const std::vector<float> scales = AwqScales(squares, magnitudes, {.activations = 0.5f, .weights = 0.5f});
  EXPECT_NEAR(scales[1] / scales[0], 2.0f, 1e-5f);
  EXPECT_NEAR(scales[0] / scales[3], 2.0f, 1e-5f);
  EXPECT_GT(scales[2], 0.0f);
  EXPECT_TRUE(std::isfinite(scales[2]));
  for (const float scale : AwqScales(squares, magnitudes, {})) EXPECT_EQ(scale, 1.0f);
}

}  // namespace
}  // namespace adit::quant
