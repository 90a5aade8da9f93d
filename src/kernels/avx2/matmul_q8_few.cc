#include "kernels/generic/matmul_q8.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/vec_q8.h"
#include "kernels/generic/matmul_codec_few.h"
#include "kernels/generic/matmul_codec_iq3.h"

namespace adit::kernels::avx2 {

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

template struct Product<DType::kTQ1_0>;
template struct Product<DType::kTQ2_0>;
template struct Product<DType::kIQ3_S>;
template struct Product<DType::kMXFP4>;
template struct Product<DType::kNVFP4>;

}  // namespace adit::kernels::avx2
