#include "kernels/generic/matmul_fp8.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/plain_shape.h"

namespace adit::kernels::avx2 {

using Fp8 = generic::MatmulFp8<PlainShape>;

template <>
size_t Product<DType::kFp8>::PanelBytes(int64_t num_cols) noexcept {
  return Fp8::PanelBytes(num_cols);
}
template <>
void Product<DType::kFp8>::Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Fp8::Pack(args, panel_begin, panel_end);
}
template <>
void Product<DType::kFp8>::Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Fp8::Multiply(args, panel_begin, panel_end);
}

}  // namespace adit::kernels::avx2
