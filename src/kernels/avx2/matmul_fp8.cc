#include "kernels/generic/matmul_fp8.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/plain_shape.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx2 {

template <>
struct Matmul<DType::kFp8> : generic::MatmulFp8<PlainShape> {};

}  // namespace adit::kernels::avx2

namespace adit::kernels::generic {

template struct Product<avx2::Matmul<DType::kFp8>>;

}  // namespace adit::kernels::generic
