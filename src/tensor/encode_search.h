#ifndef ADIT_TENSOR_ENCODE_SEARCH_H_
#define ADIT_TENSOR_ENCODE_SEARCH_H_

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace adit {

// Blocks of Q4_0 to Q5_1, Q2_K to Q6_K, IQ4_NL and IQ4_XS for num_elements floats, a multiple of the block size: scales
// are searched for, so that the sum of squares of the errors is small where each counts by `importance` [num_elements],
// not negative, and by the element's size; null: by its size alone. A block with an infinity or a NaN becomes NaN.
// `blocks` need not be aligned.
using SearchEncodeFunction = void (*)(const float* values, const float* importance, std::byte* blocks,
                                      int64_t num_elements) noexcept;

// Null for the other types.
SearchEncodeFunction SearchEncodeFor(DType dtype);

// num_rows rows of row_elements floats, by the search with `importance` [row_elements] for each row; by EncodeFor for
// types that have no search, and where `importance` is null.
void EncodeRows(DType dtype, const float* rows, const float* importance, std::byte* out, int64_t num_rows,
                int64_t row_elements) noexcept;

}  // namespace adit

#endif  // ADIT_TENSOR_ENCODE_SEARCH_H_
