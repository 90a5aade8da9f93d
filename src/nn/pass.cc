#include "nn/pass.h"

#include <cstring>
#include <span>

namespace adit::nn {
namespace {

// What the codes of a Q8 row leave of x.
void Remainder(const float* x, const std::byte* q8_row, int64_t dim, float* out) {
  constexpr int64_t kBlock = 32;
  const auto* codes = reinterpret_cast<const int8_t*>(q8_row);
  for (int64_t begin = 0; begin < dim; begin += kBlock) {
    float scale;
    std::memcpy(&scale, q8_row + kernels::Q8ScalesOffset(dim) + begin / kBlock * 4, sizeof(scale));
    for (int64_t i = begin; i < begin + kBlock; ++i) out[i] = x[i] - scale * static_cast<float>(codes[i]);
  }
}

}  // namespace

void QuantizeRow(const Worker& worker, const Pass& pass, const ActivationRows& rows, int64_t row) {
  if (rows.q8 == nullptr) return;
  std::byte* first = rows.q8 + row * rows.q8_stride;
  pass.kernels.quantize_q8(rows.Row(row), rows.dim, first);
  if (rows.second == nullptr) return;
  float* remainder = pass.work.remainders + worker.index() * pass.work.max_dim;
  Remainder(rows.Row(row), first, rows.dim, remainder);
  pass.kernels.quantize_q8(remainder, rows.dim, rows.second + row * rows.q8_stride);
}

void RunOutputLinear(Worker& worker, const Pass& pass, const Linear& linear, const ActivationRows& input,
                     BlockOutput output) {
  const bool to_residual = output == BlockOutput::kAddToResidual;
  const LinearJob job{.linear = &linear,
                      .out = to_residual ? pass.work.residual : pass.work.block_out,
                      .out_stride = pass.work.hidden_dim,
                      .accumulate = to_residual};
  RunLinear(worker, std::span(&job, 1), input.Input(), pass.num_tokens());
}

}  // namespace adit::nn
