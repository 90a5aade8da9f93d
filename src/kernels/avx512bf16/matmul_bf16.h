#ifndef ADIT_KERNELS_AVX512BF16_MATMUL_BF16_H_
#define ADIT_KERNELS_AVX512BF16_MATMUL_BF16_H_

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.h"

// The matrix product of BF16 weights by vdpbf16ps, in panels of two vectors of rows.
namespace adit::kernels::avx512bf16 {

inline constexpr int kPanelRows = 32;

size_t PanelBytes(int64_t num_cols) noexcept;
void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;
void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;

}  // namespace adit::kernels::avx512bf16

#endif  // ADIT_KERNELS_AVX512BF16_MATMUL_BF16_H_
