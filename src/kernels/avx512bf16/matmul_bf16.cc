#include "kernels/avx512bf16/matmul.h"
#include "kernels/avx512bf16/pair_product.h"
#include "kernels/generic/matmul_f32.h"

namespace adit::kernels::avx512bf16 {

using Bf16 = generic::MatmulF32<PairShape, PairProduct>;

template <>
size_t Product<DType::kBF16>::PanelBytes(int64_t num_cols) noexcept {
  return Bf16::PanelBytes(num_cols);
}
template <>
void Product<DType::kBF16>::Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Bf16::Pack(args, panel_begin, panel_end);
}
template <>
void Product<DType::kBF16>::Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Bf16::Multiply(args, panel_begin, panel_end);
}

}  // namespace adit::kernels::avx512bf16
