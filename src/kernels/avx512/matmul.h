#ifndef ADIT_KERNELS_AVX512_MATMUL_H_
#define ADIT_KERNELS_AVX512_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/product.h"
#include "tensor/dtype.h"

// The matrix products of this set. Defined and instantiated for plain types in matmul_f32.cc, for blocks of
// 32 columns in matmul_q8_32.cc, for FP8 in matmul_fp8.cc, for blocks of 256 in matmul_q8_256.cc, for types of few
// values in matmul_q8_few.cc and for those that index a grid in matmul_q8_grid.cc.
namespace adit::kernels::avx512 {

template <DType kType>
struct Matmul;

// Rows of a panel: two vectors.
inline constexpr int kPlainPanelRows = 32;
inline constexpr int kBlockPanelRows = 32;

template <DType kType>
constexpr WeightKernels KernelsOf() {
  // With float activations.
  constexpr bool kPlain = kType == DType::kF32 || kType == DType::kF16 || kType == DType::kBF16 || kType == DType::kFp8;
  return generic::KernelsOf<Matmul<kType>>(kPlain ? ActivationFormat::kF32 : ActivationFormat::kQ8,
                                           kPlain ? kPlainPanelRows : kBlockPanelRows);
}

}  // namespace adit::kernels::avx512

#endif  // ADIT_KERNELS_AVX512_MATMUL_H_
