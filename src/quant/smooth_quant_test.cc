#include "quant/smooth_quant.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "kernels/dispatch.h"

namespace adit::quant {
namespace {

constexpr int64_t kSmoothColumns = 96;
constexpr int64_t kSmoothRows = 40;
constexpr int64_t kSmoothTokens = 24;

class SmoothQuantTest : public testing::Test {
 protected:
  SmoothQuantTest() : team_(*WorkerTeam::Create(2)) {
    std::mt19937 random(5);
    std::normal_distribution<float> normal;
    rows_.resize(kSmoothRows * kSmoothColumns);
    for (float& x : rows_) x = 0.05f * normal(random);
    // [columns, tokens]; three columns are fifty times as large as the others.
    std::vector<float> columns(kSmoothColumns * kSmoothTokens);
    for (int64_t i = 0; i < kSmoothColumns; ++i) {
      for (int64_t t = 0; t < kSmoothTokens; ++t)
        columns[static_cast<size_t>(i * kSmoothTokens + t)] = normal(random) * (i % 32 == 3 ? 50.0f : 1.0f);
    }
    sample_.Add(columns, kSmoothColumns, kSmoothTokens, 0, 1);
    largest_weights_.resize(kSmoothColumns);
    for (size_t i = 0; i < rows_.size(); ++i) {
      float& peak = largest_weights_[i % kSmoothColumns];
      peak = std::max(peak, std::abs(rows_[i]));
    }
  }
  nn::ExecContext context() { return {**kernels::SelectKernels("auto"), *team_}; }
  double Loss(const std::vector<float>& scales) { return *SmoothLoss(sample_, rows_, scales, context()); }

  std::unique_ptr<WorkerTeam> team_;
  std::vector<float> rows_;
  std::vector<float> largest_weights_;
  InputSample sample_;
};

// Codes of -127..127 and their scale, as the format defines them.
std::vector<double> EightBitCodes(const std::vector<double>& x) {
  double peak = 0.0;
  for (const double value : x) peak = std::max(peak, std::abs(value));
  std::vector<double> out;
  for (const double value : x) out.push_back(std::nearbyint(value * 127.0 / peak) * peak / 127.0);
  return out;
}

TEST_F(SmoothQuantTest, TheLossIsThatOfTheFormatInDoublePrecision) {
  const std::vector<float> scales = SmoothScales(sample_.largest, largest_weights_, 12);
  double want = 0.0;
  for (int64_t t = 0; t < sample_.num_tokens(); ++t) {
    std::vector<double> x;
    std::vector<double> smooth_x;
    for (int64_t i = 0; i < kSmoothColumns; ++i) {
      x.push_back(sample_.tokens[static_cast<size_t>(t * kSmoothColumns + i)]);
      smooth_x.push_back(x.back() / static_cast<double>(scales[static_cast<size_t>(i)]));
    }
    const std::vector<double> rounded_x = EightBitCodes(smooth_x);
    for (int64_t r = 0; r < kSmoothRows; ++r) {
      std::vector<double> w;
      double exact = 0.0;
      for (int64_t i = 0; i < kSmoothColumns; ++i) {
        const double weight = rows_[static_cast<size_t>(r * kSmoothColumns + i)];
        w.push_back(weight * static_cast<double>(scales[static_cast<size_t>(i)]));
        exact += weight * x[static_cast<size_t>(i)];
      }
      const std::vector<double> rounded_w = EightBitCodes(w);
      double got = 0.0;
      for (size_t i = 0; i < w.size(); ++i) got += rounded_w[i] * rounded_x[i];
      want += (got - exact) * (got - exact);
    }
  }
  // A code in a hundred thousand falls on the other side of a half in single precision.
  EXPECT_NEAR(Loss(scales), want, 0.02 * want);
}

TEST_F(SmoothQuantTest, TheChosenStrengthIsTheBestOfTheGrid) {
  const auto chosen = SearchSmoothScales(sample_, rows_, largest_weights_, {}, context());
  ASSERT_TRUE(chosen.ok()) << chosen.status().ToString();
  const double loss = Loss(*chosen);
  for (int k = 0; k <= kSmoothSteps; ++k) {
    EXPECT_LE(loss, Loss(SmoothScales(sample_.largest, largest_weights_, k)) * (1.0 + 1e-9)) << k;
  }
  EXPECT_LT(loss, 0.2 * Loss(std::vector<float>(kSmoothColumns, 1.0f)));
}

TEST_F(SmoothQuantTest, ScalesAreThePapersFormula) {
  const std::vector<float> inputs = {8.0f, 2.0f, 0.0f};
  const std::vector<float> weights = {0.5f, 0.25f, 1.0f};
  // Half of the difficulty moves: sqrt(8 / 0.5) = 4 and sqrt(2 / 0.25) = 2.83; the empty column counts as 2.
  const std::vector<float> half = SmoothScales(inputs, weights, kSmoothSteps / 2);
  EXPECT_NEAR(half[0] / half[1], 4.0f / std::sqrt(8.0f), 1e-5f);
  EXPECT_NEAR(half[2] / half[1], std::sqrt(2.0f) / std::sqrt(8.0f), 1e-5f);
  const std::vector<float> all = SmoothScales(inputs, weights, kSmoothSteps);
  EXPECT_NEAR(all[0] / all[1], 4.0f, 1e-5f);
}

TEST_F(SmoothQuantTest, ActivationsThatAreNotFiniteAreTold) {
  sample_.largest[7] = std::numeric_limits<float>::quiet_NaN();
  const auto refused = SearchSmoothScales(sample_, rows_, largest_weights_, {}, context());
  EXPECT_EQ(refused.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(refused.status().message().find("column 7"), std::string::npos);
}

TEST(InputSample, KeepsAFewTokensOfEachWindowAndTheLargestOfAll) {
  InputSample sample;
  const int64_t num_windows = 64;
  for (int64_t window = 0; window < num_windows; ++window) {
    std::vector<float> columns(2 * 16, 0.5f);
    if (window == 40) columns[16 + 3] = -9.0f;
    sample.Add(columns, 2, 16, window, num_windows);
  }
  EXPECT_EQ(sample.num_tokens(), InputSample::kMaxTokens);
  EXPECT_EQ(sample.largest[0], 0.5f);
  EXPECT_EQ(sample.largest[1], 9.0f);
}

}  // namespace
}  // namespace adit::quant
