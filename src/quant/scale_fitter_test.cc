#include "quant/scale_fitter.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "kernels/dispatch.h"

namespace adit::quant {
namespace {

constexpr int64_t kFitted = 256;  // columns
constexpr int64_t kNumTokens = 300;
constexpr int64_t kFittedRows = 70;  // more than are fitted together, by two calls

// Inputs [kNumTokens, kFitted] that mostly point the same way, and weights.
class ScaleFitterTest : public testing::TestWithParam<GroupScales> {
 protected:
  ScaleFitterTest() : team_(*WorkerTeam::Create(1)) {
    std::mt19937 random(7);
    std::normal_distribution<float> normal;
    for (int64_t t = 0; t < kNumTokens; ++t) {
      const float common = 2.0f * normal(random);
      for (int64_t i = 0; i < kFitted; ++i) inputs_.push_back(common * (i % 3 == 0 ? -1.0f : 1.0f) + normal(random));
    }
    for (int64_t i = 0; i < kFittedRows * kFitted; ++i) weights_.push_back(0.05f * normal(random));
    hessian_.resize(static_cast<size_t>(kFitted * kFitted));
    for (int64_t i = 0; i < kFitted; ++i) {
      for (int64_t j = 0; j <= i; ++j) hessian_[static_cast<size_t>(i * kFitted + j)] = SumOfProducts(i, j);
    }
  }

  float SumOfProducts(int64_t i, int64_t j) const {
    double sum = 0.0;
    for (int64_t t = 0; t < kNumTokens; ++t) {
      sum += static_cast<double>(inputs_[static_cast<size_t>(t * kFitted + i)]) *
             static_cast<double>(inputs_[static_cast<size_t>(t * kFitted + j)]);
    }
    return static_cast<float>(sum);
  }
  size_t row_bytes() const { return RowBytes(GetParam().dtype(), kFitted); }
  int64_t group_size() const { return GetParam().group_size > 0 ? GetParam().group_size : kFitted; }

  std::vector<std::byte> Rounded() const {
    std::vector<std::byte> blocks(static_cast<size_t>(kFittedRows) * row_bytes());
    for (size_t row = 0; row < kFittedRows; ++row) {
      EncodeGroups(GetParam(), weights_.data() + row * kFitted, nullptr, blocks.data() + row * row_bytes(), kFitted);
    }
    return blocks;
  }
  void Fit(std::vector<std::byte>& blocks) const {
    const nn::ExecContext context{**kernels::SelectKernels("auto"), *team_};
    const auto fitter = ScaleFitter::Make(hessian_, kFitted, GetParam(), context);
    ASSERT_TRUE(fitter.ok());
    constexpr int64_t kFirst = ScaleFitter::kTogether;
    fitter->Fit(weights_.data(), kFirst, blocks.data());
    fitter->Fit(weights_.data() + kFirst * kFitted, kFittedRows - kFirst, blocks.data() + kFirst * row_bytes());
  }
  std::vector<float> Values(const std::vector<std::byte>& blocks) const {
    std::vector<float> values(weights_.size());
    Traits(GetParam().dtype()).decode(blocks.data(), values.data(), kFittedRows * kFitted);
    return values;
  }
  // The sum over tokens of the squares of what rounding has changed of the row's output, were the values of one group
  // multiplied by `factor`.
  double OutputError(const std::vector<float>& values, size_t row, int64_t group, double factor) const {
    double sum = 0.0;
    for (size_t t = 0; t < kNumTokens; ++t) {
      double off = 0.0;
      for (int64_t i = 0; i < kFitted; ++i) {
        const size_t at = row * kFitted + static_cast<size_t>(i);
        const double value = static_cast<double>(values[at]) * (i / group_size() == group ? factor : 1.0);
        off += (value - static_cast<double>(weights_[at])) *
               static_cast<double>(inputs_[t * kFitted + static_cast<size_t>(i)]);
      }
      sum += off * off;
    }
    return sum;
  }

  std::unique_ptr<WorkerTeam> team_;
  std::vector<float> inputs_, weights_, hessian_;
};

TEST_P(ScaleFitterTest, NoScaleNearbyIsBetter) {
  std::vector<std::byte> blocks = Rounded();
  const std::vector<float> before = Values(blocks);
  Fit(blocks);
  const std::vector<float> after = Values(blocks);
  double sum_before = 0.0;
  double sum_after = 0.0;
  for (size_t row = 0; row < kFittedRows; ++row) {
    const double error = OutputError(after, row, 0, 1.0);
    sum_before += OutputError(before, row, 0, 1.0);
    sum_after += error;
    for (int64_t group = 0; group < kFitted / group_size(); ++group) {
      for (const double factor : {0.97, 1.03}) EXPECT_LT(error, OutputError(after, row, group, factor)) << row;
    }
  }
  EXPECT_LT(sum_after, (GetParam().group_size > 0 ? 0.6 : 1.0) * sum_before);
}

// Weights of whole steps, a share of which their scales have lost: all of it comes back, but for the damping.
TEST_P(ScaleFitterTest, LostMagnitudeComesBack) {
  std::vector<std::byte> blocks = Rounded();
  weights_ = Values(blocks);
  const std::vector<double> shares(static_cast<size_t>(kFitted / group_size()), 0.8);
  for (size_t row = 0; row < kFittedRows; ++row) {
    MultiplyScales(GetParam(), shares, blocks.data() + row * row_bytes(), kFitted);
  }
  Fit(blocks);
  const std::vector<float> values = Values(blocks);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], weights_[i], 0.01f * std::abs(weights_[i]));
}

TEST_P(ScaleFitterTest, RowsWithoutBestScalesStay) {
  weights_[5] = std::numeric_limits<float>::quiet_NaN();
  std::fill_n(weights_.begin() + kFitted, kFitted, 0.0f);
  std::vector<std::byte> blocks = Rounded();
  const std::vector<std::byte> before = blocks;
  Fit(blocks);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + static_cast<ptrdiff_t>(2 * row_bytes()), blocks.begin()));
  EXPECT_NE(before, blocks);
}

INSTANTIATE_TEST_SUITE_P(All, ScaleFitterTest,
                         testing::Values(GroupScales{.bits = 4, .group_size = 64},
                                         GroupScales{.bits = 4, .group_size = 0},
                                         GroupScales{.bits = 4, .group_size = 32, .symmetric = false},
                                         GroupScales{.bits = 8, .group_size = 32, .half_scales = false}),
                         [](const auto& test) {
                           const GroupScales& groups = test.param;
                           return fmt::format("bits{}of{}{}", groups.bits, groups.group_size,
                                              groups.symmetric ? "" : "zeros");
                         });

}  // namespace
}  // namespace adit::quant
