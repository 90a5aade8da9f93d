#ifndef ADIT_PLAN_MATMUL_RATE_H_
#define ADIT_PLAN_MATMUL_RATE_H_

#include <cstddef>
#include <cstdint>

#include "adit/status.h"
#include "base/worker_team.h"
#include "kernels/kernel_table.h"
#include "tensor/dtype.h"

namespace adit::plan {

// A product of a weight matrix [num_rows, num_cols] with num_tokens rows of activations.
struct MatmulShape {
  DType dtype = DType::kF32;
  int64_t num_rows = 0;
  int64_t num_cols = 0;
  int64_t num_tokens = 0;
};

struct MatmulTime {
  double seconds = 0.0;       // of one product by the whole team, the median of several trials
  double weight_bytes = 0.0;  // packed: what it reads of weights
  double ops = 0.0;           // products and additions
};

// Times the product of random numbers. Weights of few tokens come from memory: copies that no cache holds are taken in
// turn. InvalidArgument when the set has no kernel for the type or num_cols is no multiple of its block;
// ResourceExhausted for memory.
Result<MatmulTime> TimeMatmul(WorkerTeam& team, const kernels::KernelTable& kernels, const MatmulShape& shape);

}  // namespace adit::plan

#endif  // ADIT_PLAN_MATMUL_RATE_H_
