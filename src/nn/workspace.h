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
#include "nn/linear.h"

namespace adit::nn {

// Rows of floats and, where products want them, their 8-bit form in one term or two.
struct ActivationRows {
  float* f32 = nullptr;         // [max_tokens, dim]
  std::byte* q8 = nullptr;      // [max_tokens] rows of q8_stride bytes; null when no product reads it
  std::byte* second = nullptr;  // the same of the second terms
  int64_t dim = 0;
  int64_t q8_stride = 0;

  float* Row(int64_t row) const { return f32 + row * dim; }
  LinearInput Input() const {
    return {.rows = {.f32 = f32, .f32_stride = dim, .q8 = q8, .q8_stride = q8_stride},
            .second_terms = {.q8 = second, .q8_stride = q8_stride}};
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
  int64_t gate_dim = 0;  // ffn_dim of feed-forwards with a gate
  int heads_per_kv = 1;
  int v_head_dim = 1;
  std::vector<int> rope_pairs;  // of each rope
  // Whether products read these rows as 8-bit codes too.
  bool normed_q8 = false;
  bool attended_q8 = false;
  bool gated_q8 = false;
  bool gathers = false;  // whether matrices have their columns in another order,
  bool gathered_q8 = false;
  bool two_terms = false;      // of 8-bit codes
  float least_outlier = 0.0f;  // as in Workspace
};

// Where one row of a batch stands in its sequence and in the cache.
struct RowPlace {
  int64_t position;
  size_t sequence;     // of the batch
  size_t block_index;  // into its block tables
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
  float* block_out = nullptr;    // [max_tokens, hidden_dim]: of a block whose output has yet to join
  ActivationRows normed;         // hidden_dim
  float* q = nullptr;            // [max_tokens, q_dim]
  float* k = nullptr;            // [max_tokens, k_dim]
  float* v = nullptr;            // [max_tokens, v_dim]
  ActivationRows attended;       // attended_dim
  float* gate = nullptr;         // [max_tokens, gate_dim]
  float* up = nullptr;           // [max_tokens, gate_dim]
  ActivationRows gated;          // ffn_dim
  ActivationRows gathered;       // the largest of the dims of rows; of matrices with a column_order
  std::vector<float*> rope_cos;  // of each rope: [max_tokens, num_pairs]
  std::vector<float*> rope_sin;
  std::vector<RowPlace> places;  // [max_tokens]
  float least_outlier = 0.0f;    // blocks have second terms whose largest |x| is this many root mean squares of the row
  AttentionScratch attention;
};

}  // namespace adit::nn

#endif  // ADIT_NN_WORKSPACE_H_
