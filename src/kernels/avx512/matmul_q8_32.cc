#include "kernels/generic/matmul_q8.h"

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/vec_q8.h"
#include "kernels/generic/matmul_codec_32.h"

namespace adit::kernels::avx512 {

static_assert(VecQ8::kRows == kBlockPanelRows);

template <DType kType>
using Blocks = generic::MatmulQ8<VecQ8, generic::Codec<kType, VecQ8>>;

template <DType kType>
size_t Product<kType>::PanelBytes(int64_t num_cols) noexcept {
  return Blocks<kType>::PanelBytes(num_cols);
}
template <DType kType>
void Product<kType>::Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Blocks<kType>::Pack(args, panel_begin, panel_end);
}
template <DType kType>
void Product<kType>::Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Blocks<kType>::Multiply(args, panel_begin, panel_end);
}

template struct Product<DType::kQ4_0>;
template struct Product<DType::kQ4_1>;
template struct Product<DType::kQ5_0>;
template struct Product<DType::kQ5_1>;
template struct Product<DType::kQ8_0>;
template struct Product<DType::kIQ4_NL>;
template struct Product<DType::kInt4>;
template struct Product<DType::kInt8>;

}  // namespace adit::kernels::avx512
