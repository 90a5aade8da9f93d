#ifndef ADIT_TENSOR_ENCODE_H_
#define ADIT_TENSOR_ENCODE_H_

#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace adit {

// Rounds num_elements floats, a multiple of the type's block size, to blocks of the type; `blocks` need not be aligned.
// Q2_K to Q6_K, IQ4_NL and IQ4_XS are searched for (encode_search.h). The others give what the reference quantisers of
// ggml do, bit for bit: the scale is the largest magnitude (or the range) over the largest code, each code the nearest
// one. F16 and BF16 round to nearest, ties to even.
using EncodeFunction = void (*)(const float* values, std::byte* blocks, int64_t num_elements) noexcept;

// Null for types that this build only reads.
EncodeFunction EncodeFor(DType dtype);

}  // namespace adit

#endif  // ADIT_TENSOR_ENCODE_H_
