#include "quant/awq.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "quant/encode_rows.h"
#include "quant/packed_floats.h"

namespace adit::quant {
namespace {

// H as a matrix to multiply by, all of it.
class PackedHessian {
 public:
  static Result<PackedHessian> Make(std::vector<float> hessian, int64_t n, const nn::ExecContext& context) {
    PackedHessian packed;
    for (int64_t i = 0; i < n; ++i) {
      packed.diagonal_.push_back(hessian[static_cast<size_t>(i * n + i)]);
      for (int64_t j = 0; j < i; ++j) {
        hessian[static_cast<size_t>(j * n + i)] = hessian[static_cast<size_t>(i * n + j)];
      }
    }
    ADIT_ASSIGN_OR_RETURN(packed.packed_, PackedFloats::Make(std::move(hessian), n, n, context));
    return packed;
  }

  float Diagonal(int64_t i) const { return diagonal_[static_cast<size_t>(i)]; }

  // The sum of d^T H d over num_rows rows.
  double Quadratic(const std::vector<float>& rows, int64_t num_rows, WorkerTeam& team) const {
    const nn::PackedMatrix& matrix = packed_.matrix();
    const int64_t n = matrix.num_cols();
    std::vector<float> products(rows.size());
    const int64_t step = std::max<int64_t>(1, matrix.num_panels() / (team.size() * 4));
    team.Run([&](Worker& worker) {
      for (int64_t piece; (piece = worker.Claim()) * step < matrix.num_panels();) {
        matrix.Multiply({.activations = {.f32 = rows.data(), .f32_stride = n},
                         .num_tokens = num_rows,
                         .out = products.data(),
                         .out_stride = n},
                        piece * step, std::min((piece + 1) * step, matrix.num_panels()));
      }
    });
    double sum = 0.0;
    for (size_t i = 0; i < rows.size(); ++i) sum += static_cast<double>(rows[i]) * products[i];
    return sum;
  }

 private:
  PackedFloats packed_;
  std::vector<float> diagonal_;
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

std::vector<AwqExponents> AwqGrid() {
  constexpr int kSteps = 20;
  std::vector<AwqExponents> grid;
  for (int k = 0; k < kSteps; ++k) grid.push_back({.activations = static_cast<float>(k) / kSteps});
  for (int k = 0; k < kSteps; ++k) {
    grid.push_back({.activations = static_cast<float>(k) / kSteps, .weights = static_cast<float>(kSteps - k) / kSteps});
  }
  return grid;
}

std::vector<float> MeanMagnitudes(std::span<const AwqRows> matrices, int64_t n) {
  std::vector<float> means(static_cast<size_t>(n));
  size_t num_rows = 0;
  for (const AwqRows& matrix : matrices) {
    for (size_t i = 0; i < matrix.rows.size(); ++i) means[i % means.size()] += std::abs(matrix.rows[i]);
    num_rows += matrix.rows.size() / means.size();
  }
  for (float& mean : means) mean /= static_cast<float>(num_rows);
  return means;
}

std::vector<float> AwqScales(std::span<const float> mean_squares, std::span<const float> magnitudes,
                             const AwqExponents& exponents) {
  // Columns that were nearly always zero are not scaled without end.
  const float least_square = 1e-8f * std::ranges::max(mean_squares) + 1e-30f;
  const float least_magnitude = 1e-4f * std::ranges::max(magnitudes) + 1e-30f;
  std::vector<float> scales;
  for (size_t i = 0; i < mean_squares.size(); ++i) {
    scales.push_back(std::pow(std::max(mean_squares[i], least_square), 0.5f * exponents.activations) /
                     std::pow(std::max(magnitudes[i], least_magnitude), exponents.weights));
  }
  const auto [low, high] = std::ranges::minmax(scales);
  const float middle = std::sqrt(low) * std::sqrt(high);
  for (float& scale : scales) scale /= middle;
  return scales;
}

Result<double> AwqLoss(std::span<const AwqRows> matrices, const std::vector<float>& hessian, int64_t n,
                       std::span<const float> scales, const nn::ExecContext& context) {
  ADIT_ASSIGN_OR_RETURN(const PackedHessian packed, PackedHessian::Make(hessian, n, context));
  return Loss(matrices, packed, n, scales, context.team);
}

Result<std::vector<float>> SearchAwqScales(std::span<const AwqRows> matrices, const std::vector<float>& hessian,
                                           int64_t n, ColumnSources sources, const nn::ExecContext& context) {
  ADIT_ASSIGN_OR_RETURN(const PackedHessian packed, PackedHessian::Make(hessian, n, context));
  std::vector<float> squares;
  for (int64_t i = 0; i < n; ++i) squares.push_back(packed.Diagonal(i));
  squares = MeanOfSources(std::move(squares), sources);
  std::vector<float> best(static_cast<size_t>(n), 1.0f);
  if (!(std::ranges::max(squares) > 0.0f)) return best;
  const std::vector<float> magnitudes = MeanOfSources(MeanMagnitudes(matrices, n), sources);
  // The grid begins with factors of 1.
  double least = std::numeric_limits<double>::infinity();
  for (const AwqExponents& exponents : AwqGrid()) {
    std::vector<float> scales = AwqScales(squares, magnitudes, exponents);
    const double loss = Loss(matrices, packed, n, scales, context.team);
    if (!(loss < least)) continue;
    least = loss;
    best = std::move(scales);
  }
  return best;
}

}  // namespace adit::quant
