#ifndef ADIT_QUANT_AWQ_H_
#define ADIT_QUANT_AWQ_H_

#include <cstdint>
#include <span>
#include <vector>

#include "adit/status.h"
#include "nn/exec_context.h"
#include "tensor/dtype.h"
#include "tensor/encode_groups.h"

// AWQ (Lin et al. 2023, arXiv:2306.00978): a few columns of an input are large, and rounding their weights costs most.
// What gives the input is divided by s, column by column, and the weights are multiplied by it before they are rounded:
// the outputs stay the same, and the weights of large columns are rounded finer. s is the size of the columns to the
// power of some exponent; the exponent is searched for.
namespace adit::quant {

// Rows of a matrix, and the type that they are to be rounded to.
struct AwqRows {
  std::vector<float> rows;  // [num_rows, n]
  DType dtype = DType::kQ4_0;
  const GroupScales* groups = nullptr;  // of Int4 and Int8
};

// The exponents that are tried: k / kAwqSteps for k = 0 .. kAwqSteps - 1.
inline constexpr int kAwqSteps = 20;

// The factors [n] of exponent k / kAwqSteps for columns of these mean squares, with a geometric mean of the largest and
// the smallest of 1.
std::vector<float> AwqScales(std::span<const float> mean_squares, int k);

// The factors of the exponent for which rounding changes the outputs of `matrices` least: the sum over their rows of
// d^T H d, where d is what rounding w * s and dividing by s makes of w, less w. `hessian` [n, n] is the sum of x x^T
// over tokens; elements above the diagonal are not read. All 1 where nothing is better. ResourceExhausted for memory.
Result<std::vector<float>> SearchAwqScales(std::span<const AwqRows> matrices, const std::vector<float>& hessian,
                                           int64_t n, const nn::ExecContext& context);

// That sum for given factors; for tests.
Result<double> AwqLoss(std::span<const AwqRows> matrices, const std::vector<float>& hessian, int64_t n,
                       std::span<const float> scales, const nn::ExecContext& context);

}  // namespace adit::quant

#endif  // ADIT_QUANT_AWQ_H_
