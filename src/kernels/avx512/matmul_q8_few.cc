#include "kernels/generic/matmul_q8.h"

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/vec_q8.h"
#include "kernels/generic/matmul_codec_few.h"
#include "kernels/generic/matmul_codec_iq3.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx512 {

static_assert(VecQ8::kRows == kBlockPanelRows);

template <DType kType>
struct Matmul : generic::MatmulQ8<VecQ8, generic::Codec<kType, VecQ8>> {};

}  // namespace adit::kernels::avx512

namespace adit::kernels::generic {

template struct Product<avx512::Matmul<DType::kTQ1_0>>;
template struct Product<avx512::Matmul<DType::kTQ2_0>>;
template struct Product<avx512::Matmul<DType::kIQ3_S>>;
template struct Product<avx512::Matmul<DType::kMXFP4>>;
template struct Product<avx512::Matmul<DType::kNVFP4>>;

}  // namespace adit::kernels::generic
