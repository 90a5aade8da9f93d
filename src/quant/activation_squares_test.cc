#include "quant/activation_squares.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "kernels/dispatch.h"

namespace adit::quant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ActivationSquaresTest : public testing::Test {
 protected:
  ActivationSquaresTest() {
    weights_.layers.resize(1);
    auto& attention = weights_.layers[0].mixer.emplace<nn::AttentionBlockWeights>();
    auto& feed_forward = weights_.layers[0].feed_forward.emplace<nn::GatedFeedForwardWeights>();
    for (nn::Linear* linear : {&attention.q, &attention.k, &attention.v, &attention.out, &feed_forward.gate,
                               &feed_forward.up, &feed_forward.down}) {
      linear->matrix = nn::PackedMatrix(**kernels::SelectKernels("ref"), DType::kF32, 2, 3);
    }
    q_ = &attention.q;
    k_ = &attention.k;
  }

  void Observe(ActivationSquares& squares, const std::vector<float>& rows, int num_workers) {
    const std::array<nn::LinearJob, 2> jobs = {nn::LinearJob{.linear = q_}, nn::LinearJob{.linear = k_}};
    const auto team = WorkerTeam::Create(num_workers);
    (*team)->Run([&](Worker& worker) {
      squares.Observe(worker, jobs, {.f32 = rows.data(), .f32_stride = 3}, static_cast<int64_t>(rows.size()) / 3);
    });
  }

  models::ModelWeights weights_;
  const nn::Linear* q_ = nullptr;
  const nn::Linear* k_ = nullptr;
};

TEST_F(ActivationSquaresTest, SumsSquaresOfColumnsForEachMatrixThatReadsThem) {
  for (const int num_workers : {1, 2, 5}) {
    ActivationSquares squares(weights_);
    Observe(squares, {1.0f, 2.0f, 3.0f, -1.0f, 0.0f, 4.0f}, num_workers);
    Observe(squares, {10.0f, 0.0f, 0.0f}, num_workers);
    const auto sums = squares.Sums();
    ASSERT_TRUE(sums.ok());
    ASSERT_EQ(sums->matrices.size(), 2u);
    for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight"}) {
      EXPECT_THAT(sums->matrices.at(name).sums, ElementsAre(102.0f, 4.0f, 25.0f));
      EXPECT_EQ(sums->matrices.at(name).count, 3.0f);
    }
  }
}

TEST_F(ActivationSquaresTest, RefusesWhatIsNoNumber) {
  ActivationSquares squares(weights_);
  Observe(squares, {1.0f, NAN, 3.0f}, 1);
  EXPECT_THAT(squares.Sums().status().message(), HasSubstr("'blk.0.attn_"));
}

}  // namespace
}  // namespace adit::quant
