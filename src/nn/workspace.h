#ifndef ADIT_NN_WORKSPACE_H_
#define ADIT_NN_WORKSPACE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "kernels/matmul.h"
#include "nn/attention.h"
#include "nn/forward_batch.h"

namespace adit::nn {

// Rows of floats and, where a product wants them, their 8-bit form.
struct ActivationRows {
  float* f32 = nullptr;     // [max_tokens, dim]
  std::byte* q8 = nullptr;  // [max_tokens] rows of q8_stride bytes; null when no product reads it
  int64_t dim = 0;
  int64_t q8_stride = 0;

  float* Row(int64_t row) const { return f32 + row * dim; }
  std::byte* Q8Row(int64_t row) const { return q8 + row * q8_stride; }
  kernels::ActivationView View() const {
    return {.f32 = f32, .f32_stride = dim, .q8 = q8, .q8_stride = q8_stride};
  }
  // The same memory with narrower rows.
  ActivationRows Narrowed(int64_t new_dim) const;
};

// The largest sizes that any layer of a model asks for.
struct WorkspaceSizes {
  int64_t max_tokens = 0;
  int num_workers = 1;
  int64_t hidden_dim = 0;
  int64_t q_dim = 0;         // num_heads * k_dim
  int64_t k_dim = 0;         // num_kv_heads * k_dim
  int64_t v_dim = 0;         // num_kv_heads * v_dim
  int64_t attended_dim = 0;  // num_heads * v_dim
  int64_t ffn_dim = 0;
  int heads_per_kv = 1;
  int v_head_dim = 1;
  std::vector<int> rope_pairs;  // of each rope
  // Whether some product reads these rows in 8-bit form.
  bool q8_normed = false;
  bool q8_attended = false;
  bool q8_gated = false;
};

// Where one row of a batch stands in its sequence and in the cache.
struct RowPlace {
  int64_t position;
  int32_t block_id;
  int slot;
};

// The memory of a forward pass, cut out of one buffer. Layers use it one after another.
struct Workspace {
  static Result<Workspace> Create(const WorkspaceSizes& sizes);

  // Notes where the rows of `batch` stand, and plans its attention. Called by one thread before a pass.
  void Plan(const ForwardBatch& batch, int block_size);

  AlignedBuffer buffer;
  int64_t max_tokens = 0;
  int64_t hidden_dim = 0;
  float* residual = nullptr;     // [max_tokens, hidden_dim]
  float* block_out = nullptr;    // [max_tokens, hidden_dim]: of a block whose output is normed before it joins
  ActivationRows normed;         // hidden_dim
  float* q = nullptr;            // [max_tokens, q_dim]
  float* k = nullptr;            // [max_tokens, k_dim]
  float* v = nullptr;            // [max_tokens, v_dim]
  ActivationRows attended;       // attended_dim
  float* gate = nullptr;         // [max_tokens, ffn_dim]
  float* up = nullptr;           // [max_tokens, ffn_dim]
  ActivationRows gated;          // ffn_dim
  std::vector<float*> rope_cos;  // of each rope: [max_tokens, num_pairs]
  std::vector<float*> rope_sin;
  std::vector<RowPlace> places;  // [max_tokens]
  AttentionScratch attention;
};

}  // namespace adit::nn

#endif  // ADIT_NN_WORKSPACE_H_
