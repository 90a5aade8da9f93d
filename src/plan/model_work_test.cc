#include "plan/model_work.h"

#include <gtest/gtest.h>

#include <array>

namespace adit::plan {
namespace {

// Two layers of 4 heads of 8, two of keys and values; the second sees 3 positions.
class WorkOfModel : public testing::Test {
 protected:
  WorkOfModel() {
    for (const int64_t window : {0, 3}) {
      models::LayerSpec layer;
      nn::AttentionBlockConfig attention;
      attention.shape = {.num_heads = 4, .num_kv_heads = 2, .k_dim = 8, .v_dim = 8, .window = window};
      layer.mixer = attention;
      spec_.layers.push_back(layer);
    }
    weights_.layer_products = {.weight_bytes = 1000, .q8 = 400, .bf16 = 7, .f32 = 30};
    weights_.output_products = {.weight_bytes = 500, .q8 = 100, .f32 = 0};
  }
  nn::KvLayout Layout() const {
    return nn::KvLayout(spec_.CacheSpecs(), kernels::KvType::kF32, kernels::KvType::kF32, 16);
  }

  models::ModelSpec spec_;
  models::ModelWeights weights_;
};

TEST_F(WorkOfModel, OfOneTokenIsTheWeightsOnceAndTheCacheOnce) {
  const std::array<PassRows, 1> rows = {{{.num_tokens = 1, .first_position = 9, .num_logits = 1}}};
  const PassWork work = WorkOf(spec_, weights_, Layout(), rows);
  EXPECT_EQ(work.linear.bytes, 1000.0);
  EXPECT_EQ(work.linear.q8_ops, 2.0 * 400.0);
  EXPECT_EQ(work.linear.bf16_ops, 2.0 * 7.0);
  EXPECT_EQ(work.linear.f32_ops, 2.0 * 30.0);
  EXPECT_EQ(work.output.bytes, 500.0);
  EXPECT_EQ(work.output.ops(), 2.0 * 100.0);
  // 10 positions of the first layer and 3 of the second: 4 heads, 8 of a key and 8 of a value.
  EXPECT_EQ(work.attention.f32_ops, 2.0 * 4.0 * 16.0 * 13.0);
  EXPECT_EQ(work.attention.bytes, 2.0 * 16.0 * 4.0 * 13.0);
  EXPECT_EQ(work.Total().bytes, 1500.0 + work.attention.bytes);
  EXPECT_EQ(work.Total().f32_ops, 2.0 * 30.0 + work.attention.f32_ops);
}

TEST_F(WorkOfModel, OfAChunkReadsWeightsOnceAndNoOutputMatrixWithoutLogits) {
  const std::array<PassRows, 1> rows = {{{.num_tokens = 4, .first_position = 0, .num_logits = 0}}};
  const PassWork work = WorkOf(spec_, weights_, Layout(), rows);
  EXPECT_EQ(work.linear.bytes, 1000.0);
  EXPECT_EQ(work.output.bytes, 0.0);
  EXPECT_EQ(work.linear.q8_ops, 2.0 * 4.0 * 400.0);
  EXPECT_EQ(work.linear.f32_ops, 2.0 * 4.0 * 30.0);
  // Rows see 1, 2, 3, 4 positions, and 1, 2, 3, 3 with the window.
  EXPECT_EQ(work.attention.f32_ops, 2.0 * 4.0 * 16.0 * (10.0 + 9.0));
}

TEST_F(WorkOfModel, OfAChunkInTheMiddleSeesAllBeforeItOrTheWindow) {
  const std::array<PassRows, 1> rows = {{{.num_tokens = 3, .first_position = 1, .num_logits = 0}}};
  // 2, 3, 4 positions, and 2, 3, 3 with the window.
  EXPECT_EQ(WorkOf(spec_, weights_, Layout(), rows).attention.f32_ops, 2.0 * 4.0 * 16.0 * (9.0 + 8.0));
  const std::array<PassRows, 1> far = {{{.num_tokens = 2, .first_position = 50, .num_logits = 0}}};
  EXPECT_EQ(WorkOf(spec_, weights_, Layout(), far).attention.f32_ops, 2.0 * 4.0 * 16.0 * (51.0 + 52.0 + 6.0));
}

TEST_F(WorkOfModel, OfSequencesAddsUpButForTheWeights) {
  const std::array<PassRows, 2> rows = {{{.num_tokens = 1, .first_position = 9, .num_logits = 1},
                                         {.num_tokens = 1, .first_position = 9, .num_logits = 1}}};
  const PassWork one = WorkOf(spec_, weights_, Layout(), std::span(rows).first(1));
  const PassWork two = WorkOf(spec_, weights_, Layout(), rows);
  EXPECT_EQ(two.linear.bytes, one.linear.bytes);
  EXPECT_EQ(two.output.bytes, one.output.bytes);
  EXPECT_EQ(two.attention.bytes, 2.0 * one.attention.bytes);
  EXPECT_EQ(two.Total().ops(), 2.0 * one.Total().ops());
}

TEST(LeastSeconds, IsTheLongerOfReadingAndComputing) {
  const MachineLimits limits = {
      .read_bytes_per_s = 100.0, .q8_ops_per_s = 10.0, .bf16_ops_per_s = 20.0, .f32_ops_per_s = 5.0};
  EXPECT_EQ(LeastSeconds({.bytes = 400.0, .q8_ops = 10.0, .f32_ops = 5.0}, limits), 4.0);
  EXPECT_EQ(LeastSeconds({.bytes = 100.0, .q8_ops = 30.0, .f32_ops = 10.0}, limits), 5.0);
  EXPECT_EQ(LeastSeconds({.bytes = 100.0, .q8_ops = 10.0, .bf16_ops = 60.0}, limits), 4.0);
  EXPECT_EQ(LeastSeconds({.bytes = 100.0, .f32_ops = 10.0}, {.read_bytes_per_s = 1.0}), 0.0);
}

}  // namespace
}  // namespace adit::plan
