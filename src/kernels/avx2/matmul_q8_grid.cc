#include "kernels/generic/matmul_q8.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/vec_q8_grid.h"
#include "kernels/generic/matmul_codec_grid.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx2 {

static_assert(VecQ8Grid::kRows == kBlockPanelRows);

template <DType kType>
struct Matmul : generic::MatmulQ8<VecQ8Grid, generic::Codec<kType, VecQ8Grid>> {};

}  // namespace adit::kernels::avx2

namespace adit::kernels::generic {

template struct Product<avx2::Matmul<DType::kIQ1_S>>;
template struct Product<avx2::Matmul<DType::kIQ1_M>>;
template struct Product<avx2::Matmul<DType::kIQ2_XXS>>;
template struct Product<avx2::Matmul<DType::kIQ2_XS>>;
template struct Product<avx2::Matmul<DType::kIQ2_S>>;
template struct Product<avx2::Matmul<DType::kIQ3_XXS>>;

}  // namespace adit::kernels::generic
