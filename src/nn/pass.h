#ifndef ADIT_NN_PASS_H_
#define ADIT_NN_PASS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/worker_team.h"
#include "kernels/kernel_table.h"
#include "nn/forward_batch.h"
#include "nn/kv_cache.h"
#include "nn/linear.h"
#include "nn/op_times.h"
#include "nn/workspace.h"

// The blocks of nn are run by every worker of a team side by side. Between two barriers each piece of work is claimed
// by one worker, and what a phase reads was written before the last barrier. A block begins and ends inside a phase:
// the caller ends the phase before it and its last one.
namespace adit::nn {

// What the blocks of one forward pass share.
struct Pass {
  const kernels::KernelTable& kernels;
  const ForwardBatch& batch;
  const KvLayout& kv_layout;
  std::byte* kv_pool;
  Workspace& work;
  OpTimes& times;  // worker 0's
  LinearObserver* observer = nullptr;

  int64_t num_tokens() const { return static_cast<int64_t>(batch.tokens.size()); }

  // A barrier, after which it is noted that what was done since the last one is `op`. Called by every worker.
  void EndPhase(Worker& worker, Op op) const {
    worker.Barrier();
    if (worker.index() == 0) times.End(op);
  }
};

// How a block's output reaches the residual.
enum class BlockOutput : uint8_t {
  kAddToResidual,
  kApart,  // stays in Workspace::block_out until it joins (Join)
};

// The 8-bit forms of one row that products read.
void QuantizeRow(const Pass& pass, const ActivationRows& rows, int64_t row);

// RunLinear of the first num_tokens of `rows`, which the pass's observer, if any, sees.
void RunLinears(Worker& worker, const Pass& pass, std::span<const LinearJob> jobs, const ActivationRows& rows,
                int64_t num_tokens);

// The last product of a block, from `input` to where `output` says.
void RunOutputLinear(Worker& worker, const Pass& pass, const Linear& linear, const ActivationRows& input,
                     BlockOutput output);

}  // namespace adit::nn

#endif  // ADIT_NN_PASS_H_
