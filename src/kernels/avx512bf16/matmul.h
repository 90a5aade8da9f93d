#ifndef ADIT_KERNELS_AVX512BF16_MATMUL_H_
#define ADIT_KERNELS_AVX512BF16_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/product.h"
#include "tensor/dtype.h"

// Matrix products by vdpbf16ps, in panels of two vectors of rows.
namespace adit::kernels::avx512bf16 {

inline constexpr int kPanelRows = 32;

template <DType kType>
struct Matmul;

}  // namespace adit::kernels::avx512bf16

#endif  // ADIT_KERNELS_AVX512BF16_MATMUL_H_
