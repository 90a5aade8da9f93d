#ifndef ADIT_QUANT_ROUNDING_ERROR_H_
#define ADIT_QUANT_ROUNDING_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/worker_team.h"
#include "formats/retyped_model.h"
#include "formats/weight_source.h"

namespace adit::quant {

// Rows [first, first + count) of `tensor`, rounded as `retyping` says and widened again, in `out` [count, columns].
void ReadRounded(const formats::WeightSource& model, const formats::TensorInfo& tensor,
                 const formats::TensorRetyping& retyping, int64_t first, int64_t count, float* out);

// All rows of `tensor` rounded and widened, as the bytes of F32, by the whole team.
std::vector<std::byte> RoundedFloats(const formats::WeightSource& model, const formats::TensorInfo& tensor,
                                     const formats::TensorRetyping& retyping, WorkerTeam& team);

// What share of a matrix's strength rounding takes: the sum of m_j (w_j - round(w_j))^2 over the sum of m_j w_j^2 of
// rows spread over the matrix, where m_j is the mean square of what column j is multiplied with (`mean_squares`
// [columns]; empty: 1). 0 for a matrix of zeros, or of the type itself.
double RoundingError(const formats::WeightSource& model, const formats::TensorInfo& tensor,
                     const formats::TensorRetyping& retyping, std::span<const float> mean_squares, WorkerTeam& team);

}  // namespace adit::quant

#endif  // ADIT_QUANT_ROUNDING_ERROR_H_
