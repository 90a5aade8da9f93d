#include "kernels/generic/matmul_f32.h"

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/plain_shape.h"
#include "kernels/avx512/vec_f32.h"

namespace adit::kernels::avx512 {

template <DType kType>
using Plain = generic::MatmulF32<PlainShape, generic::WidenedProduct<VecF32, kType>>;

template <DType kType>
size_t Product<kType>::PanelBytes(int64_t num_cols) noexcept {
  return Plain<kType>::PanelBytes(num_cols);
}
template <DType kType>
void Product<kType>::Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Plain<kType>::Pack(args, panel_begin, panel_end);
}
template <DType kType>
void Product<kType>::Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Plain<kType>::Multiply(args, panel_begin, panel_end);
}

template struct Product<DType::kF32>;
template struct Product<DType::kF16>;
template struct Product<DType::kBF16>;

}  // namespace adit::kernels::avx512
