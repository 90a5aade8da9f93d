#include "nn/linear.h"

#include <algorithm>

#include "base/check.h"

namespace adit::nn {
namespace {

// Most pieces per worker: so many that one held up by another process leaves little behind.
constexpr int64_t kPiecesPerWorker = 8;
// Weights of a piece where there are few tokens: each begins a stream of its own, which the hardware has to find, and
// each is claimed. SmolLM2-135M Q4_1, two threads of a Zen 5, with 8 and with 2 pieces for each in every product: 438
// and 530 tokens/s for one sequence, 1,600 and 1,830 for 16; a model of 1.5 billion gains nothing.
constexpr int64_t kPieceBytes = int64_t{64} << 10;

// How a group of products is cut into pieces: ranges of panels by ranges of tokens.
struct Pieces {
  int64_t panels = 0;  // of a piece
  int64_t tokens = 0;
};

// The pieces of products with total_panels panels of total_bytes.
Pieces CutInto(int64_t num_workers, int64_t total_panels, int64_t total_bytes, int64_t num_tokens) {
  constexpr int64_t kGroup = kernels::kMatmulGroupPanels;
  constexpr int64_t kChunk = kernels::kMatmulChunkTokens;
  if (num_tokens < 2 * kChunk) {
    const int64_t per_worker = std::clamp<int64_t>(total_bytes / (num_workers * kPieceBytes), 1, kPiecesPerWorker);
    const int64_t num_pieces = num_workers * per_worker;
    return {.panels = (total_panels + num_pieces - 1) / num_pieces, .tokens = num_tokens};
  }
  const int64_t num_pieces = num_workers * kPiecesPerWorker;
  const int64_t panels = std::max<int64_t>(1, total_panels / num_pieces);
  if (panels >= kGroup) return {.panels = panels, .tokens = num_tokens};
  const int64_t num_chunks = (num_tokens + kChunk - 1) / kChunk;
  const int64_t num_groups = (total_panels + kGroup - 1) / kGroup;
  const int64_t token_ranges = std::min(num_chunks, (num_pieces + num_groups - 1) / num_groups);
  return {.panels = kGroup, .tokens = (num_chunks + token_ranges - 1) / token_ranges * kChunk};
}

kernels::ActivationView From(kernels::ActivationView view, int64_t token) {
  if (view.f32 != nullptr) view.f32 += token * view.f32_stride;
  if (view.q8 != nullptr) view.q8 += token * view.q8_stride;
  return view;
}

struct Range {
  int64_t begin = 0;
  int64_t end = 0;
};

void MultiplyPiece(const LinearJob& job, const LinearInput& input, Range tokens, Range panels) {
  const Linear& linear = *job.linear;
  linear.matrix.Multiply({.activations = From(input.rows, tokens.begin),
                          .second_terms = From(input.second_terms, tokens.begin),
                          .num_tokens = tokens.end - tokens.begin,
                          .bias = linear.bias.empty() ? nullptr : linear.bias.data(),
                          .out = job.out + tokens.begin * job.out_stride,
                          .out_stride = job.out_stride,
                          .accumulate = job.accumulate},
                         panels.begin, panels.end);
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
  int64_t total_bytes = 0;
  for (const LinearJob& job : jobs) {
    const PackedMatrix& matrix = job.linear->matrix;
    total_panels += matrix.num_panels();
    total_bytes += matrix.num_panels() * static_cast<int64_t>(matrix.panel_bytes());
  }
  const Pieces cut = CutInto(worker.count(), total_panels, total_bytes, num_tokens);
  const int64_t token_ranges = (num_tokens + cut.tokens - 1) / cut.tokens;

  int64_t piece = worker.Claim();
  int64_t job_first_piece = 0;
  for (const LinearJob& job : jobs) {
    const int64_t num_panels = job.linear->matrix.num_panels();
    const int64_t num_pieces = (num_panels + cut.panels - 1) / cut.panels * token_ranges;
    for (; piece < job_first_piece + num_pieces; piece = worker.Claim()) {
      const int64_t index = piece - job_first_piece;
      const int64_t token = index % token_ranges * cut.tokens;
      const int64_t panel = index / token_ranges * cut.panels;
      MultiplyPiece(job, input, {token, std::min(token + cut.tokens, num_tokens)},
                    {panel, std::min(panel + cut.panels, num_panels)});
    }
    job_first_piece += num_pieces;
  }
}

}  // namespace adit::nn
