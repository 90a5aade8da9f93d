#include "nn/workspace.h"

#include <algorithm>

namespace adit::nn {
namespace {

// Hands out stretches of a buffer that start at cache lines. Without a buffer it only counts.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}
  std::byte* Take(int64_t bytes) {
    std::byte* start = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<size_t>(bytes) + 63) / 64 * 64;
    return start;
  }
  float* Floats(int64_t count) { return reinterpret_cast<float*>(Take(count * static_cast<int64_t>(sizeof(float)))); }
  ActivationRows Rows(int64_t max_tokens, int64_t dim, bool q8, bool two_terms) {
    ActivationRows rows{.f32 = Floats(max_tokens * dim), .dim = dim};
    if (!q8) return rows;
    rows.q8_stride = kernels::Q8RowBytes(dim);
    rows.q8 = Take(max_tokens * rows.q8_stride);
    if (two_terms) rows.second = Take(max_tokens * rows.q8_stride);
    return rows;
  }
  size_t used() const { return used_; }

 private:
  std::byte* base_;
  size_t used_ = 0;
};

void Carve(Workspace& workspace, const WorkspaceSizes& sizes, Carver& carver) {
  const int64_t max_tokens = sizes.max_tokens;
  workspace.residual = carver.Floats(max_tokens * sizes.hidden_dim);
  workspace.block_out = carver.Floats(max_tokens * sizes.hidden_dim);
  workspace.normed = carver.Rows(max_tokens, sizes.hidden_dim, sizes.normed_q8, sizes.two_terms);
  workspace.q = carver.Floats(max_tokens * sizes.q_dim);
  workspace.k = carver.Floats(max_tokens * sizes.k_dim);
  workspace.v = carver.Floats(max_tokens * sizes.v_dim);
  workspace.attended = carver.Rows(max_tokens, sizes.attended_dim, sizes.attended_q8, sizes.two_terms);
  workspace.gate = carver.Floats(max_tokens * sizes.gate_dim);
  workspace.up = carver.Floats(max_tokens * sizes.gate_dim);
  workspace.gated = carver.Rows(max_tokens, sizes.ffn_dim, sizes.gated_q8, sizes.two_terms);
  if (sizes.gathers) {
    const int64_t largest_dim = std::max({sizes.hidden_dim, sizes.attended_dim, sizes.ffn_dim});
    workspace.gathered = carver.Rows(max_tokens, largest_dim, sizes.gathered_q8, sizes.two_terms);
  }
  for (size_t i = 0; i < sizes.rope_pairs.size(); ++i) {
    workspace.rope_cos[i] = carver.Floats(max_tokens * sizes.rope_pairs[i]);
    workspace.rope_sin[i] = carver.Floats(max_tokens * sizes.rope_pairs[i]);
  }
}

}  // namespace

ActivationRows ActivationRows::Narrowed(int64_t new_dim) const {
  return {.f32 = f32,
          .q8 = q8,
          .second = second,
          .dim = new_dim,
          .q8_stride = q8 == nullptr ? 0 : kernels::Q8RowBytes(new_dim)};
}

Result<Workspace> Workspace::Create(const WorkspaceSizes& sizes) {
  Workspace workspace;
  workspace.max_tokens = sizes.max_tokens;
  workspace.hidden_dim = sizes.hidden_dim;
  workspace.least_outlier = sizes.least_outlier;
  workspace.rope_cos.resize(sizes.rope_pairs.size());
  workspace.rope_sin.resize(sizes.rope_pairs.size());
  workspace.places.resize(static_cast<size_t>(sizes.max_tokens));
  Carver counter(nullptr);
  Carve(workspace, sizes, counter);
  ADIT_ASSIGN_OR_RETURN(workspace.buffer, AlignedBuffer::Allocate(counter.used(), "scratch of the forward pass"));
  Carver carver(workspace.buffer.data());
  Carve(workspace, sizes, carver);
  ADIT_ASSIGN_OR_RETURN(workspace.attention,
                        AttentionScratch::Create(sizes.num_workers, sizes.heads_per_kv, sizes.v_head_dim));
  return workspace;
}

void Workspace::Plan(const ForwardBatch& batch, int block_size) {
  for (size_t sequence = 0; sequence < batch.sequences.size(); ++sequence) {
    const SequenceRows& rows = batch.sequences[sequence];
    for (int64_t i = 0; i < rows.num_rows; ++i) {
      const int64_t position = rows.first_position + i;
      places[static_cast<size_t>(rows.row_begin + i)] = {.position = position,
                                                         .sequence = sequence,
                                                         .block_index = static_cast<size_t>(position / block_size),
                                                         .slot = static_cast<int>(position % block_size)};
    }
  }
  attention.Plan(batch);
}

}  // namespace adit::nn
