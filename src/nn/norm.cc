#include "nn/norm.h"

#include <algorithm>

namespace adit::nn {
namespace {

bool IsThere(const Norm* norm) { return norm != nullptr && !norm->empty(); }

struct Vectors {
  const float* x;
  int64_t num_rows;
  int64_t dim;
  float* out;
};

// With the weights from element `first` of the norm's on.
void RunFrom(const Pass& pass, const Norm& norm, int64_t first, const Vectors& vectors) {
  if (norm.kind == NormKind::kRms) {
    pass.kernels.rms_norm({.x = vectors.x,
                           .x_stride = vectors.dim,
                           .weight = norm.weight.data() + first,
                           .eps = norm.eps,
                           .num_rows = vectors.num_rows,
                           .dim = vectors.dim,
                           .out = vectors.out,
                           .out_stride = vectors.dim});
  } else {
    pass.kernels.layer_norm({.x = vectors.x,
                             .x_stride = vectors.dim,
                             .weight = norm.weight.data() + first,
                             .bias = norm.bias.empty() ? nullptr : norm.bias.data() + first,
                             .eps = norm.eps,
                             .num_rows = vectors.num_rows,
                             .dim = vectors.dim,
                             .out = vectors.out,
                             .out_stride = vectors.dim});
  }
}

void ReadResidual(const Pass& pass, const Norm* norm, int64_t row) {
  const int64_t dim = pass.work.hidden_dim;
  const float* residual = pass.work.residual + row * dim;
  float* normed = pass.work.normed.Row(row);
  if (IsThere(norm)) {
    RunNorm(pass, *norm, residual, 1, normed);
  } else {
    std::copy_n(residual, dim, normed);
  }
  QuantizeRow(pass, pass.work.normed, row);
}

}  // namespace

void RunNorm(const Pass& pass, const Norm& norm, const float* x, int64_t num_rows, float* out) {
  RunFrom(pass, norm, 0, {.x = x, .num_rows = num_rows, .dim = static_cast<int64_t>(norm.weight.size()), .out = out});
}

void RunNormPart(const Pass& pass, const Norm& norm, int64_t first, int64_t dim, const float* x, float* out) {
  RunFrom(pass, norm, first, {.x = x, .num_rows = 1, .dim = dim, .out = out});
}

void RunJoin(Worker& worker, const Pass& pass, const Join& join) {
  const int64_t dim = pass.work.hidden_dim;
  worker.ForRows(pass.num_tokens(), [&](int64_t row) {
    float* residual = pass.work.residual + row * dim;
    if (join.has_next && join.next_reads_first) ReadResidual(pass, join.next_norm, row);
    if (join.output == BlockOutput::kApart) {
      float* block_out = pass.work.block_out + row * dim;
      if (IsThere(join.output_norm)) RunNorm(pass, *join.output_norm, block_out, 1, block_out);
      for (int64_t i = 0; i < dim; ++i) residual[i] += join.output_scale * block_out[i];
    }
    if (IsThere(join.residual_norm)) RunNorm(pass, *join.residual_norm, residual, 1, residual);
    if (join.has_next && !join.next_reads_first) ReadResidual(pass, join.next_norm, row);
  });
}

}  // namespace adit::nn
