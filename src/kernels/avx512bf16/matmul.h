#ifndef ADIT_KERNELS_AVX512BF16_MATMUL_H_
#define ADIT_KERNELS_AVX512BF16_MATMUL_H_

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.h"
#include "tensor/dtype.h"

// Matrix products by vdpbf16ps, in panels of two vectors of rows.
namespace adit::kernels::avx512bf16 {

inline constexpr int kPanelRows = 32;

template <DType kType>
struct Product {
  static size_t PanelBytes(int64_t num_cols) noexcept;
  static void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;
  static void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;
};

}  // namespace adit::kernels::avx512bf16

#endif  // ADIT_KERNELS_AVX512BF16_MATMUL_H_
