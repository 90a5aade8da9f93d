#ifndef ADIT_NN_NORM_H_
#define ADIT_NN_NORM_H_

#include <cstdint>
#include <span>

#include "base/worker_team.h"
#include "nn/pass.h"

namespace adit::nn {

// out = RMS norm of each of num_rows vectors of weight.size() elements, rows packed. out may be x.
void RmsNorm(const Pass& pass, const float* x, std::span<const float> weight, float eps, int64_t num_rows, float* out);

// For each row of the pass: adds Workspace::block_out, normed by post_norm, to the residual (empty: the block has
// added its output itself); then norms the residual by `norm` into Workspace::normed (empty: not).
void JoinAndNorm(Worker& worker, const Pass& pass, std::span<const float> post_norm, std::span<const float> norm,
                 float eps);

}  // namespace adit::nn

#endif  // ADIT_NN_NORM_H_
