#ifndef ADIT_QUANT_AWQ_H_
#define ADIT_QUANT_AWQ_H_

#include <cstdint>
#include <span>
#include <vector>

#include "adit/status.h"
#include "nn/exec_context.h"
#include "quant/column_sources.h"
#include "tensor/dtype.h"
#include "tensor/encode_groups.h"

// AWQ (Lin et al. 2023, arXiv:2306.00978): a few columns of an input are large, and rounding their weights costs most.
// What gives the input is divided by s, column by column, and the weights are multiplied by it before they are rounded:
// the outputs stay the same, and the weights of large columns are rounded finer. s is the size of the columns to the
// power of some exponent, and may be divided by the size of the columns' weights to that of another, so that columns
// with large weights do not coarsen those that share a scale with them. The exponents are searched for.
namespace adit::quant {

// Rows of a matrix, and the type that they are to be rounded to.
struct AwqRows {
  std::vector<float> rows;  // [num_rows, n]
  DType dtype = DType::kQ4_0;
  const GroupScales* groups = nullptr;  // of Int4 and Int8
};

// s = x^a / w^b for columns whose activations are of size x and whose weights are of size w.
struct AwqExponents {
  float activations = 0.0f;  // a
  float weights = 0.0f;      // b
};

// Those that are tried: for each a in steps of a twentieth, from 0 and below 1, b = 0 and b = 1 - a.
std::vector<AwqExponents> AwqGrid();

// The factors [n] for columns of activations with these mean squares and weights with these mean magnitudes, with a
// geometric mean of the largest and the smallest of 1.
std::vector<float> AwqScales(std::span<const float> mean_squares, std::span<const float> magnitudes,
                             const AwqExponents& exponents);
// The mean magnitudes [n] of the columns over the rows of all matrices.
std::vector<float> MeanMagnitudes(std::span<const AwqRows> matrices, int64_t n);

// The factors of the exponents for which rounding changes the outputs of `matrices` least: the sum over their rows of
// d^T H d, where d is what rounding w * s and dividing by s makes of w, less w. `hessian` [n, n] is the sum of x x^T
// over tokens; elements above the diagonal are not read. Columns of one source count as the mean of them. All 1 where
// nothing is better. ResourceExhausted for memory.
Result<std::vector<float>> SearchAwqScales(std::span<const AwqRows> matrices, const std::vector<float>& hessian,
                                           int64_t n, ColumnSources sources, const nn::ExecContext& context);

// That sum for given factors; for tests.
Result<double> AwqLoss(std::span<const AwqRows> matrices, const std::vector<float>& hessian, int64_t n,
                       std::span<const float> scales, const nn::ExecContext& context);

}  // namespace adit::quant

#endif  // ADIT_QUANT_AWQ_H_
