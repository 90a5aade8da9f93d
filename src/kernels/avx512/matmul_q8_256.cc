#include "kernels/generic/matmul_q8.h"

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/vec_q8.h"
#include "kernels/generic/matmul_codec_256.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx512 {

static_assert(VecQ8::kRows == kBlockPanelRows);

template <DType kType>
struct Matmul : generic::MatmulQ8<VecQ8, generic::Codec<kType, VecQ8>> {};

}  // namespace adit::kernels::avx512

namespace adit::kernels::generic {

template struct Product<avx512::Matmul<DType::kQ2_K>>;
template struct Product<avx512::Matmul<DType::kQ3_K>>;
template struct Product<avx512::Matmul<DType::kQ4_K>>;
template struct Product<avx512::Matmul<DType::kQ5_K>>;
template struct Product<avx512::Matmul<DType::kQ6_K>>;
template struct Product<avx512::Matmul<DType::kIQ4_XS>>;

}  // namespace adit::kernels::generic
