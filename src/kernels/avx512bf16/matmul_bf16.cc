#include "kernels/avx512bf16/matmul.h"
#include "kernels/avx512bf16/pair_product.h"
#include "kernels/generic/matmul_f32.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx512bf16 {

template <>
struct Matmul<DType::kBF16> : generic::MatmulF32<PairShape, PairProduct> {};

}  // namespace adit::kernels::avx512bf16

namespace adit::kernels::generic {

template struct Product<avx512bf16::Matmul<DType::kBF16>>;

}  // namespace adit::kernels::generic
