#ifndef ADIT_QUANT_GPTQ_H_
#define ADIT_QUANT_GPTQ_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "adit/status.h"
#include "nn/exec_context.h"
#include "quant/fp8_scales.h"
#include "quant/packed_floats.h"
#include "tensor/block_codes.h"
#include "tensor/dtype.h"
#include "tensor/encode_groups.h"

// GPTQ (Frantar et al. 2022, arXiv:2210.17323): the columns of a matrix W are rounded one after another, and those that
// are left make up, as far as they can, for what the rounding of the others does to the outputs W x of calibration. In
// the form of LDLQ (Chee et al. 2023, arXiv:2307.13304), which gives the same numbers: with H = L^T L, L lower
// triangular, column k becomes Q(w_k + sum over j < k of (w_j - q_j) L[k][j] / L[k][k]).
namespace adit::quant {

struct GptqOptions {
  float damping = 0.01f;  // of the mean of H's diagonal, added to it
  bool act_order = true;  // columns in the order of what they count, most first
};

// What one input of matrices, by its Hessian, says about how to round them.
class GptqFactor {
 public:
  // `hessian` [n, n] is the sum of x x^T over tokens; elements above the diagonal are not read. Corrupt when it is not
  // finite, or stays indefinite with more damping; ResourceExhausted for memory.
  static Result<GptqFactor> Make(std::vector<float> hessian, int64_t n, const GptqOptions& options,
                                 const nn::ExecContext& context);

  int64_t num_columns() const { return n_; }
  // The diagonal of the Hessian: what the error of each column counts.
  std::span<const float> importance() const { return importance_; }

  // Rounds rows `weights` [num_rows, n] to codes [num_rows, n] of `grids` [num_rows, n / block]. Thread-safe.
  void ChooseCodes(const float* weights, int64_t num_rows, std::span<const BlockGrid> grids, int64_t block,
                   uint8_t* codes) const;
  // Rows as blocks of `dtype`, which has grids: scales by search, codes by ChooseCodes. `groups` of Int4 and Int8, else
  // null. Thread-safe.
  void EncodeRows(DType dtype, const GroupScales* groups, const float* weights, int64_t num_rows, std::byte* out) const;
  // Rows [first_row, first_row + num_rows) of a matrix of E4M3, as blocks of Fp8. Requires a multiple of 32 columns.
  // Thread-safe.
  void EncodeFp8Rows(const Fp8Scales& scales, const float* weights, int64_t first_row, int64_t num_rows,
                     std::byte* out) const;

 private:
  // Columns that are rounded together: what the errors of all before mean for them comes from one product.
  static constexpr int64_t kTogether = 128;

  GptqFactor() = default;
  // Calls round(row, column, wanted) for each weight, in the order of rounding; it gives the value that the weight gets
  // in place of what is wanted.
  template <typename Round>
  void RoundColumns(const float* weights, int64_t num_rows, Round round) const;
  Status Order(std::vector<float>& hessian, const GptqOptions& options);
  Status Pack(const std::vector<float>& factor, const nn::ExecContext& context);

  int64_t n_ = 0;
  std::vector<float> importance_;
  std::vector<int64_t> order_;              // the columns, in the order in which they are rounded
  std::vector<PackedFloats> before_;        // of each kTogether columns: rows L[k][j] / L[k][k], j before them all
  std::vector<std::vector<float>> within_;  // the same of j among them: [columns, columns]
};

}  // namespace adit::quant

#endif  // ADIT_QUANT_GPTQ_H_
