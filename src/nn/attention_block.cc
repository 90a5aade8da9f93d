#include "nn/attention_block.h"

#include <array>

#include "nn/hadamard.h"

namespace adit::nn {
namespace {

void NormHeads(const Pass& pass, QkNorm kind, const Norm& norm, float* heads, int num_heads, int k_dim) {
  switch (kind) {
    case QkNorm::kNone:
      return;
    case QkNorm::kHead:
      RunNorm(pass, norm, heads, num_heads, heads);
      return;
    case QkNorm::kEachHead:
      for (int64_t first = 0; first < int64_t{num_heads} * k_dim; first += k_dim) {
        RunNormPart(pass, norm, first, k_dim, heads + first, heads + first);
      }
      return;
    case QkNorm::kRow:
      RunNorm(pass, norm, heads, 1, heads);
      return;
  }
}

// Norms and turns the queries and keys of each row, and stores its keys and values in the cache.
void PlaceKeys(Worker& worker, const Pass& pass, size_t layer, const AttentionBlockConfig& config,
               const AttentionBlockWeights& weights, std::span<const Rope> ropes) {
  const AttentionConfig& shape = config.shape;
  const kernels::KvView kv = pass.kv_layout.View(pass.kv_pool, layer);
  const size_t group = pass.kv_layout.group_of(layer);
  const auto turn = [&](int64_t row, float* heads, int num_heads) {
    if (config.rope < 0) return;
    const size_t index = static_cast<size_t>(config.rope);
    const RopeConfig& rope = ropes[index].config();
    pass.kernels.rope({.x = heads,
                       .num_heads = num_heads,
                       .head_dim = shape.k_dim,
                       .cos = pass.work.rope_cos[index] + row * rope.num_pairs,
                       .sin = pass.work.rope_sin[index] + row * rope.num_pairs,
                       .num_pairs = rope.num_pairs,
                       .interleaved = rope.interleaved});
  };
  worker.ForRows(pass.num_tokens(), [&](int64_t row) {
    float* q = pass.work.q + row * shape.num_heads * shape.k_dim;
    float* k = pass.work.k + row * shape.num_kv_heads * shape.k_dim;
    const float* v = pass.work.v + row * shape.num_kv_heads * shape.v_dim;
    NormHeads(pass, config.qk_norm, weights.q_norm, q, shape.num_heads, shape.k_dim);
    NormHeads(pass, config.qk_norm, weights.k_norm, k, shape.num_kv_heads, shape.k_dim);
    turn(row, q, shape.num_heads);
    turn(row, k, shape.num_kv_heads);
    if (kv.k_type == kernels::KvType::kQ4_0) {
      // A few channels of keys are large, and would take the codes of their groups; scores stay what they are.
      SpreadVectors(q, shape.num_heads, shape.k_dim);
      SpreadVectors(k, shape.num_kv_heads, shape.k_dim);
    }
    const RowPlace& place = pass.work.places[static_cast<size_t>(row)];
    const auto block_table = pass.batch.sequences[place.sequence].block_tables[group];
    pass.kernels.store_kv({.kv = kv, .block_id = block_table[place.block_index], .slot = place.slot, .k = k, .v = v});
  });
}

}  // namespace

void RunAttentionBlock(Worker& worker, const Pass& pass, size_t layer, const AttentionBlockConfig& config,
                       const AttentionBlockWeights& weights, std::span<const Rope> ropes, BlockOutput output) {
  const AttentionConfig& shape = config.shape;
  Workspace& work = pass.work;
  const int64_t num_tokens = pass.num_tokens();
  const int64_t q_dim = int64_t{shape.num_heads} * shape.k_dim;
  const std::array<LinearJob, 3> projections = {
      LinearJob{.linear = &weights.q, .out = work.q, .out_stride = q_dim},
      LinearJob{.linear = &weights.k, .out = work.k, .out_stride = int64_t{shape.num_kv_heads} * shape.k_dim},
      LinearJob{.linear = &weights.v, .out = work.v, .out_stride = int64_t{shape.num_kv_heads} * shape.v_dim}};
  RunLinears(worker, pass, projections, work.normed, num_tokens);
  pass.EndPhase(worker, Op::kLinear);

  PlaceKeys(worker, pass, layer, config, weights, ropes);
  pass.EndPhase(worker, Op::kRope);

  const ActivationRows attended = work.attended.Narrowed(int64_t{shape.num_heads} * shape.v_dim);
  Attend(worker, pass.kernels, shape, pass.batch,
         {.q = work.q,
          .q_stride = q_dim,
          .kv = pass.kv_layout.View(pass.kv_pool, layer),
          .kv_group = pass.kv_layout.group_of(layer),
          .out = attended.f32,
          .out_stride = attended.dim},
         work.attention);
  pass.EndPhase(worker, Op::kAttention);
  if (attended.q8 != nullptr) {
    worker.ForRows(num_tokens, [&](int64_t row) { QuantizeRow(pass, attended, row); });
    pass.EndPhase(worker, Op::kAttention);
  }

  RunOutputLinear(worker, pass, weights.out, attended, output);
}

}  // namespace adit::nn
