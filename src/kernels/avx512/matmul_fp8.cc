#include "kernels/generic/matmul_fp8.h"

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/plain_shape.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx512 {

template <>
struct Matmul<DType::kFp8> : generic::MatmulFp8<PlainShape> {};

}  // namespace adit::kernels::avx512

namespace adit::kernels::generic {

template struct Product<avx512::Matmul<DType::kFp8>>;

}  // namespace adit::kernels::generic
