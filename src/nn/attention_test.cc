#include "nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "kernels/dispatch.h"
#include "nn/kv_cache.h"

namespace adit::nn {
namespace {

constexpr int kBlockSize = 16;

// Random keys, values and queries of a few sequences, and their attention by any kernels and number of threads.
class AttentionCase {
 public:
  AttentionCase(AttentionConfig config, std::vector<int64_t> lengths, std::vector<int64_t> query_counts)
      : config_(config), lengths_(std::move(lengths)), query_counts_(std::move(query_counts)) {
    std::mt19937 rng(7);
    std::normal_distribution<float> normal;
    for (size_t s = 0; s < lengths_.size(); ++s) {
      keys_.emplace_back(static_cast<size_t>(lengths_[s] * config.num_kv_heads * config.k_dim));
      values_.emplace_back(static_cast<size_t>(lengths_[s] * config.num_kv_heads * config.v_dim));
      queries_.emplace_back(static_cast<size_t>(query_counts_[s] * config.num_heads * config.k_dim));
      for (auto* floats : {&keys_.back(), &values_.back(), &queries_.back()}) {
        for (float& x : *floats) x = normal(rng);
      }
    }
  }

  // [all queries, num_heads, v_dim] of the sequences from `first` to the end of `count`.
  std::vector<float> Run(const kernels::KernelTable& kernels, int num_threads, size_t first, size_t count) const {
    const KvLayout layout({{config_.num_kv_heads, config_.k_dim, config_.v_dim, config_.window}}, kernels.native_kv,
                          kernels.native_kv, kBlockSize);
    int64_t num_blocks = 0;
    for (int64_t length : lengths_) num_blocks += (length + kBlockSize - 1) / kBlockSize;
    AlignedBuffer pool =
        AlignedBuffer::Allocate(static_cast<size_t>(num_blocks) * layout.block_bytes(), "pool").value();
    std::memset(pool.data(), 0xff, pool.size_bytes());

    std::vector<std::vector<int32_t>> tables(count);
    std::vector<std::span<const int32_t>> block_tables(count);
    std::vector<SequenceRows> rows;
    std::vector<float> q;
    int32_t next_block = static_cast<int32_t>(num_blocks);
    for (size_t i = 0; i < count; ++i) {
      const size_t s = first + i;
      for (int64_t t = 0; t < lengths_[s]; t += kBlockSize) tables[i].push_back(--next_block);
      for (int64_t t = 0; t < lengths_[s]; ++t) {
        kernels.store_kv({.kv = layout.View(pool.data(), 0),
                          .block_id = tables[i][static_cast<size_t>(t / kBlockSize)],
                          .slot = static_cast<int>(t % kBlockSize),
                          .k = keys_[s].data() + t * config_.num_kv_heads * config_.k_dim,
                          .v = values_[s].data() + t * config_.num_kv_heads * config_.v_dim});
      }
      block_tables[i] = tables[i];
      rows.push_back({.row_begin = static_cast<int64_t>(q.size()) / (config_.num_heads * config_.k_dim),
                      .num_rows = query_counts_[s],
                      .first_position = lengths_[s] - query_counts_[s],
                      .block_tables = std::span(&block_tables[i], 1)});
      q.insert(q.end(), queries_[s].begin(), queries_[s].end());
    }
    const size_t num_rows = q.size() / static_cast<size_t>(config_.num_heads * config_.k_dim);
    const std::vector<int32_t> tokens(num_rows, 0);
    const ForwardBatch batch{.tokens = tokens, .sequences = rows, .logit_rows = {}};
    std::vector<float> out(num_rows * static_cast<size_t>(config_.num_heads * config_.v_dim));
    auto team = WorkerTeam::Create(num_threads).value();
    auto scratch =
        AttentionScratch::Create(num_threads, config_.num_heads / config_.num_kv_heads, config_.v_dim).value();
    scratch.Plan(batch);
    const AttentionInput input{.q = q.data(),
                               .q_stride = int64_t{config_.num_heads} * config_.k_dim,
                               .kv = layout.View(pool.data(), 0),
                               .out = out.data(),
                               .out_stride = int64_t{config_.num_heads} * config_.v_dim};
    team->Run([&](Worker& worker) { Attend(worker, kernels, config_, batch, input, scratch); });
    return out;
  }

  // The textbook formula in double precision.
  std::vector<double> Expected(size_t s) const {
    const int group = config_.num_heads / config_.num_kv_heads;
    std::vector<double> out;
    for (int64_t query = 0; query < query_counts_[s]; ++query) {
      const int64_t position = lengths_[s] - query_counts_[s] + query;
      const int64_t begin = config_.window > 0 ? std::max<int64_t>(0, position - config_.window + 1) : 0;
      const int64_t end = config_.causal ? position + 1 : lengths_[s];
      for (int head = 0; head < config_.num_heads; ++head) {
        const float* q = queries_[s].data() + (query * config_.num_heads + head) * config_.k_dim;
        std::vector<double> weights;
        double sum = 0.0;
        for (int64_t t = begin; t < end; ++t) {
          const float* k = keys_[s].data() + (t * config_.num_kv_heads + head / group) * config_.k_dim;
          double score = 0.0;
          for (int d = 0; d < config_.k_dim; ++d) score += static_cast<double>(q[d]) * k[d];
          score *= config_.scale;
          if (config_.softcap > 0.0f) score = config_.softcap * std::tanh(score / config_.softcap);
          weights.push_back(std::exp(score));
          sum += weights.back();
        }
        for (int d = 0; d < config_.v_dim; ++d) {
          double value = 0.0;
          for (int64_t t = begin; t < end; ++t) {
            value += weights[static_cast<size_t>(t - begin)] *
                     values_[s][static_cast<size_t>((t * config_.num_kv_heads + head / group) * config_.v_dim + d)];
          }
          out.push_back(value / sum);
        }
      }
    }
    return out;
  }

 private:
  AttentionConfig config_;
  std::vector<int64_t> lengths_;
  std::vector<int64_t> query_counts_;
  std::vector<std::vector<float>> keys_;
  std::vector<std::vector<float>> values_;
  std::vector<std::vector<float>> queries_;
};

AttentionConfig Shape(int64_t window) {
  return {.num_heads = 6, .num_kv_heads = 2, .k_dim = 32, .v_dim = 16, .window = window, .scale = 0.1768f};
}

AttentionConfig CappedShape() {
  AttentionConfig config = Shape(0);
  config.softcap = 1.5f;
  return config;
}

AttentionConfig TwoWayShape() {
  AttentionConfig config = Shape(0);
  config.causal = false;
  return config;
}

TEST(Attention, FollowsTheFormula) {
  const std::vector<AttentionCase> cases = {
      {Shape(0), {1, 40, 700}, {1, 40, 3}},      {Shape(1), {1, 40, 700}, {1, 40, 3}},
      {Shape(8), {1, 40, 700}, {1, 40, 3}},      {Shape(300), {1, 40, 700}, {1, 40, 3}},
      {CappedShape(), {1, 40, 700}, {1, 40, 3}}, {TwoWayShape(), {1, 40, 300}, {1, 40, 300}}};
  for (size_t c = 0; c < cases.size(); ++c) {
    const AttentionCase& attention = cases[c];
    for (const kernels::KernelSet& set : kernels::KernelSets()) {
      if (!set.available) continue;
      const double tolerance = set.table->native_kv == kernels::KvType::kF32 ? 1e-5 : 4e-3;
      for (size_t s = 0; s < 3; ++s) {
        const std::vector<float> got = attention.Run(*set.table, 2, s, 1);
        const std::vector<double> want = attention.Expected(s);
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < want.size(); ++i) {
          ASSERT_NEAR(got[i], want[i], tolerance) << set.table->name << " case " << c << " sequence " << s;
        }
      }
    }
  }
}

// Alone on one thread, and in company on several threads: long contexts are split, short ones are not, the bits are the
// same.
TEST(Attention, DoesNotDependOnCompanyOrThreads) {
  const std::vector<AttentionCase> cases = {{Shape(0), {5, 1030, 257, 64}, {5, 2, 1, 50}},
                                            {Shape(290), {5, 1030, 257, 64}, {5, 2, 1, 50}},
                                            {CappedShape(), {5, 1030, 257, 64}, {5, 2, 1, 50}},
                                            {TwoWayShape(), {5, 600, 1, 20}, {5, 600, 1, 20}}};
  for (const AttentionCase& attention : cases) {
    for (const kernels::KernelSet& set : kernels::KernelSets()) {
      if (!set.available) continue;
      std::vector<float> alone;
      for (size_t s = 0; s < 4; ++s) {
        const std::vector<float> one = attention.Run(*set.table, 1, s, 1);
        for (int num_threads : {2, 4, 7}) {
          EXPECT_EQ(attention.Run(*set.table, num_threads, s, 1), one) << set.table->name << " sequence " << s;
        }
        alone.insert(alone.end(), one.begin(), one.end());
      }
      for (int num_threads : {1, 3, 4}) {
        EXPECT_EQ(attention.Run(*set.table, num_threads, 0, 4), alone) << set.table->name << " threads " << num_threads;
      }
    }
  }
}

}  // namespace
}  // namespace adit::nn
