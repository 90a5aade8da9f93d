#include "nn/linear.h"

#include <algorithm>

#include "base/check.h"

namespace adit::nn {
namespace {

// Pieces per worker: enough that one held up by another process leaves little behind, few enough that claiming is free.
constexpr int64_t kPiecesPerWorker = 8;
// Packed weights that a worker multiplies with first terms and then, from its second-level cache, with second terms.
constexpr size_t kTwoTermBytes = size_t{128} << 10;

void MultiplyPanels(const LinearJob& job, const LinearInput& input, int64_t num_tokens, int64_t begin, int64_t end) {
  const Linear& linear = *job.linear;
  const kernels::MatmulArgs first{.activations = input.rows,
                                  .num_tokens = num_tokens,
                                  .bias = linear.bias.empty() ? nullptr : linear.bias.data(),
                                  .out = job.out,
                                  .out_stride = job.out_stride,
                                  .accumulate = job.accumulate};
  if (!linear.two_terms || !linear.wants_q8()) {
    linear.matrix.Multiply(first, begin, end);
    return;
  }
  const kernels::MatmulArgs second{.activations = input.second_terms,
                                   .num_tokens = num_tokens,
                                   .out = job.out,
                                   .out_stride = job.out_stride,
                                   .accumulate = true};
  const int64_t step = std::max<int64_t>(1, static_cast<int64_t>(kTwoTermBytes / linear.matrix.panel_bytes()));
  for (; begin < end; begin += step) {
    linear.matrix.Multiply(first, begin, std::min(begin + step, end));
    linear.matrix.Multiply(second, begin, std::min(begin + step, end));
  }
}

}  // namespace

PackedMatrix::PackedMatrix(const kernels::KernelTable& kernels, DType dtype, int64_t num_rows, int64_t num_cols)
    : kernels_(&kernels.weights[static_cast<int>(dtype)]), dtype_(dtype), num_rows_(num_rows), num_cols_(num_cols) {
  ADIT_CHECK(kernels_->matmul != nullptr);
}

void PackedMatrix::PackRows(const std::byte* rows, int64_t num_rows, std::byte* panels) const {
  kernels_->pack({.rows = rows,
                  .row_bytes = RowBytes(dtype_, num_cols_),
                  .num_rows = num_rows,
                  .num_cols = num_cols_,
                  .panels = panels},
                 0, (num_rows + panel_rows() - 1) / panel_rows());
}

void PackedMatrix::Multiply(kernels::MatmulArgs args, int64_t panel_begin, int64_t panel_end) const {
  args.weights = data_;
  args.num_rows = num_rows_;
  args.num_cols = num_cols_;
  kernels_->matmul(args, panel_begin, panel_end);
}

void RunLinear(Worker& worker, std::span<const LinearJob> jobs, const LinearInput& input, int64_t num_tokens) {
  int64_t total_panels = 0;
  for (const LinearJob& job : jobs) total_panels += job.linear->matrix.num_panels();
  const int64_t panels_per_piece = std::max<int64_t>(1, total_panels / (worker.count() * kPiecesPerWorker));

  int64_t piece = worker.Claim();
  int64_t job_first_piece = 0;
  for (const LinearJob& job : jobs) {
    const int64_t num_panels = job.linear->matrix.num_panels();
    const int64_t num_pieces = (num_panels + panels_per_piece - 1) / panels_per_piece;
    for (; piece < job_first_piece + num_pieces; piece = worker.Claim()) {
      const int64_t panel_begin = (piece - job_first_piece) * panels_per_piece;
      MultiplyPanels(job, input, num_tokens, panel_begin, std::min(panel_begin + panels_per_piece, num_panels));
    }
    job_first_piece += num_pieces;
  }
}

}  // namespace adit::nn
