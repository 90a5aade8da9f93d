#ifndef ADIT_NN_ATTENTION_H_
#define ADIT_NN_ATTENTION_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adit/status.h"
#include "base/aligned_buffer.h"
#include "base/worker_team.h"
#include "kernels/kernel_table.h"
#include "nn/forward_batch.h"

namespace adit::nn {

// Shape of one layer's attention.
struct AttentionConfig {
  int num_heads = 0;
  int num_kv_heads = 0;
  int k_dim = 0;         // of a query and key head
  int v_dim = 0;         // of a value head
  int64_t window = 0;    // positions a query sees, its own included; 0: all before it
  float scale = 1.0f;    // of the scores
  float softcap = 0.0f;  // > 0: a score s becomes softcap * tanh(s / softcap)
  // A row sees its own position and those before it. False: all of its sequence, whose rows lie in one batch then; for
  // layers without a window.
  bool causal = true;
};

// Memory of the attention of one forward pass, sized once.
class AttentionScratch {
 public:
  // For layers of at most max_heads_per_kv query heads per KV head and values of max_v_dim.
  static Result<AttentionScratch> Create(int num_workers, int max_heads_per_kv, int max_v_dim);

  // Cuts the rows of `batch` into the tiles that workers claim. Called by one thread before the pass.
  void Plan(const ForwardBatch& batch);

 private:
  friend class AttentionRun;
  // Queries that one worker takes at a time.
  struct Tile {
    size_t sequence = 0;
    int64_t query_begin = 0;  // relative to the sequence's first row
    int64_t query_end = 0;
  };

  AlignedBuffer worker_scratch_;  // [num_workers, worker_floats_]: states of a tile, then the kernel's scratch
  int64_t worker_floats_ = 0;
  int64_t state_floats_ = 0;    // of worker_floats_, the part for states
  AlignedBuffer split_states_;  // states of the chunks of tiles that several workers share
  int64_t split_floats_ = 0;
  int64_t queries_per_tile_ = 1;
  std::vector<Tile> tiles_;
};

struct AttentionInput {
  const float* q = nullptr;  // [num_tokens, num_heads, k_dim]
  int64_t q_stride = 0;      // elements between tokens
  kernels::KvView kv;        // already holds this batch's keys and values
  size_t kv_group = 0;       // which of the block tables leads to them
  float* out = nullptr;      // [num_tokens, num_heads, v_dim]
  int64_t out_stride = 0;
};

// Softmax attention of every row of `batch` over its sequence's cache. Every worker calls it in the same phase; it ends
// without a barrier, but has one inside when a long context is split among workers. How the work is split does not
// change a bit of the result: chunks of fixed positions are computed apart and merged in order (kernels/attention.h).
void Attend(Worker& worker, const kernels::KernelTable& kernels, const AttentionConfig& config,
            const ForwardBatch& batch, const AttentionInput& input, AttentionScratch& scratch);

}  // namespace adit::nn

#endif  // ADIT_NN_ATTENTION_H_
