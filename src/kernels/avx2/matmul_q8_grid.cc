#include "kernels/generic/matmul_q8.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/vec_q8_grid.h"
#include "kernels/generic/matmul_codec_grid.h"

namespace adit::kernels::avx2 {

static_assert(VecQ8Grid::kRows == kBlockPanelRows);

template <DType kType>
using Blocks = generic::MatmulQ8<VecQ8Grid, generic::Codec<kType, VecQ8Grid>>;

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

template struct Product<DType::kIQ1_S>;
template struct Product<DType::kIQ1_M>;
template struct Product<DType::kIQ2_XXS>;
template struct Product<DType::kIQ2_XS>;
template struct Product<DType::kIQ2_S>;
template struct Product<DType::kIQ3_XXS>;

}  // namespace adit::kernels::avx2
