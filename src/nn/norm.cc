#include "nn/norm.h"

namespace adit::nn {

void RmsNorm(const Pass& pass, const float* x, std::span<const float> weight, float eps, int64_t num_rows, float* out) {
  const int64_t dim = static_cast<int64_t>(weight.size());
  pass.kernels.rms_norm({.x = x,
                         .x_stride = dim,
                         .weight = weight.data(),
                         .eps = eps,
                         .num_rows = num_rows,
                         .dim = dim,
                         .out = out,
                         .out_stride = dim});
}

void JoinAndNorm(Worker& worker, const Pass& pass, std::span<const float> post_norm, std::span<const float> norm,
                 float eps) {
  const int64_t dim = pass.work.hidden_dim;
  for (int64_t row; (row = worker.Claim()) < pass.num_tokens();) {
    float* residual = pass.work.residual + row * dim;
    if (!post_norm.empty()) {
      float* block_out = pass.work.block_out + row * dim;
      RmsNorm(pass, block_out, post_norm, eps, 1, block_out);
      for (int64_t i = 0; i < dim; ++i) residual[i] += block_out[i];
    }
    if (norm.empty()) continue;
    RmsNorm(pass, residual, norm, eps, 1, pass.work.normed.Row(row));
    QuantizeRow(worker, pass, pass.work.normed, row);
  }
}

}  // namespace adit::nn
