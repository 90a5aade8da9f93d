#include "quant/awq.h"

#include <algorithm>
#include <cmath>

#include "base/aligned_buffer.h"
#include "nn/linear.h"
#include "quant/encode_rows.h"

namespace adit::quant {
namespace {

// H as a matrix to multiply by, all of it.
class PackedHessian {
 public:
  static Result<PackedHessian> Make(const std::vector<float>& hessian, int64_t n, const nn::ExecContext& context) {
    PackedHessian packed;
    packed.rows_ = hessian;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < i; ++j) {
        packed.rows_[static_cast<size_t>(j * n + i)] = packed.rows_[static_cast<size_t>(i * n + j)];
      }
    }
    packed.matrix_ = nn::PackedMatrix(context.kernels, DType::kF32, n, n);
    const auto* bytes = reinterpret_cast<const std::byte*>(packed.rows_.data());
    if (packed.matrix_.needs_packing()) {
      ADIT_ASSIGN_OR_RETURN(packed.panels_, AlignedBuffer::Allocate(packed.matrix_.packed_bytes(), "awq"));
      packed.matrix_.PackRows(bytes, n, packed.panels_.data());
      packed.matrix_.set_data(packed.panels_.data());
    } else {
      packed.matrix_.set_data(bytes);
    }
    return packed;
  }

  float Diagonal(int64_t i) const { return rows_[static_cast<size_t>(i * matrix_.num_cols() + i)]; }

  // The sum of d^T H d over num_rows rows.
  double Quadratic(const std::vector<float>& rows, int64_t num_rows, WorkerTeam& team) const {
    const int64_t n = matrix_.num_cols();
    std::vector<float> products(rows.size());
    const int64_t step = std::max<int64_t>(1, matrix_.num_panels() / (team.size() * 4));
    team.Run([&](Worker& worker) {
      for (int64_t piece; (piece = worker.Claim()) * step < matrix_.num_panels();) {
        matrix_.Multiply({.activations = {.f32 = rows.data(), .f32_stride = n},
                          .num_tokens = num_rows,
                          .out = products.data(),
                          .out_stride = n},
                         piece * step, std::min((piece + 1) * step, matrix_.num_panels()));
      }
    });
    double sum = 0.0;
    for (size_t i = 0; i < rows.size(); ++i) sum += static_cast<double>(rows[i]) * products[i];
    return sum;
  }

 private:
  std::vector<float> rows_;
  nn::PackedMatrix matrix_;
  AlignedBuffer panels_;
};

// What rounding rows * scales and dividing by them makes of rows, less rows.
std::vector<float> Changes(const AwqRows& matrix, const PackedHessian& hessian, int64_t n,
                           std::span<const float> scales, WorkerTeam& team) {
  const int64_t num_rows = static_cast<int64_t>(matrix.rows.size()) / n;
  std::vector<float> changes(matrix.rows.size());
  std::vector<float> importance(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    const float scale = scales[static_cast<size_t>(i)];
    importance[static_cast<size_t>(i)] = hessian.Diagonal(i) / (scale * scale);
  }
  team.Run([&](Worker& worker) {
    std::vector<float> scaled(static_cast<size_t>(n));
    std::vector<std::byte> blocks(RowBytes(matrix.dtype, n));
    for (int64_t row; (row = worker.Claim()) < num_rows;) {
      const float* from = matrix.rows.data() + row * n;
      float* to = changes.data() + row * n;
      for (int64_t i = 0; i < n; ++i) scaled[static_cast<size_t>(i)] = from[i] * scales[static_cast<size_t>(i)];
      EncodeRowsWith(matrix.dtype, matrix.groups, scaled.data(), importance.data(), blocks.data(), 1, n);
      Traits(matrix.dtype).decode(blocks.data(), to, n);
      for (int64_t i = 0; i < n; ++i) to[i] = to[i] / scales[static_cast<size_t>(i)] - from[i];
    }
  });
  return changes;
}

double Loss(std::span<const AwqRows> matrices, const PackedHessian& hessian, int64_t n, std::span<const float> scales,
            WorkerTeam& team) {
  double loss = 0.0;
  for (const AwqRows& matrix : matrices) {
    const std::vector<float> changes = Changes(matrix, hessian, n, scales, team);
    loss += hessian.Quadratic(changes, static_cast<int64_t>(matrix.rows.size()) / n, team);
  }
  return loss;
}

}  // namespace

std::vector<float> AwqScales(std::span<const float> mean_squares, int k) {
  // Columns that were nearly always zero are not scaled down without end.
  const float largest = std::ranges::max(mean_squares);
  const float exponent = 0.5f * static_cast<float>(k) / kAwqSteps;
  std::vector<float> scales;
  for (const float square : mean_squares)
    scales.push_back(std::pow(std::max(square, 1e-8f * largest + 1e-30f), exponent));
  const auto [low, high] = std::ranges::minmax(scales);
  const float middle = std::sqrt(low * high);
  for (float& scale : scales) scale /= middle;
  return scales;
}

Result<double> AwqLoss(std::span<const AwqRows> matrices, const std::vector<float>& hessian, int64_t n,
                       std::span<const float> scales, const nn::ExecContext& context) {
  ADIT_ASSIGN_OR_RETURN(const PackedHessian packed, PackedHessian::Make(hessian, n, context));
  return Loss(matrices, packed, n, scales, context.team);
}

Result<std::vector<float>> SearchAwqScales(std::span<const AwqRows> matrices, const std::vector<float>& hessian,
                                           int64_t n, const nn::ExecContext& context) {
  ADIT_ASSIGN_OR_RETURN(const PackedHessian packed, PackedHessian::Make(hessian, n, context));
  std::vector<float> squares;
  for (int64_t i = 0; i < n; ++i) squares.push_back(packed.Diagonal(i));
  std::vector<float> best(static_cast<size_t>(n), 1.0f);
  if (!(std::ranges::max(squares) > 0.0f)) return best;
  double least = Loss(matrices, packed, n, best, context.team);
  for (int k = 1; k < kAwqSteps; ++k) {
    std::vector<float> scales = AwqScales(squares, k);
    const double loss = Loss(matrices, packed, n, scales, context.team);
    if (!(loss < least)) continue;
    least = loss;
    best = std::move(scales);
  }
  return best;
}

}  // namespace adit::quant
