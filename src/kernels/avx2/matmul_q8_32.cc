#include "kernels/generic/matmul_q8.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/vec_q8.h"
#include "kernels/generic/matmul_codec_32.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx2 {

static_assert(VecQ8::kRows == kBlockPanelRows);

template <DType kType>
struct Matmul : generic::MatmulQ8<VecQ8, generic::Codec<kType, VecQ8>> {};

}  // namespace adit::kernels::avx2

namespace adit::kernels::generic {

template struct Product<avx2::Matmul<DType::kQ4_0>>;
template struct Product<avx2::Matmul<DType::kQ4_1>>;
template struct Product<avx2::Matmul<DType::kQ5_0>>;
template struct Product<avx2::Matmul<DType::kQ5_1>>;
template struct Product<avx2::Matmul<DType::kQ8_0>>;
template struct Product<avx2::Matmul<DType::kIQ4_NL>>;
template struct Product<avx2::Matmul<DType::kInt4>>;
template struct Product<avx2::Matmul<DType::kInt8>>;

}  // namespace adit::kernels::generic
