#include "kernels/generic/matmul_f32.h"

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/plain_shape.h"
#include "kernels/avx512/vec_f32.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx512 {

template <DType kType>
struct Matmul : generic::MatmulF32<PlainShape, generic::WidenedProduct<VecF32, kType>> {};

}  // namespace adit::kernels::avx512

namespace adit::kernels::generic {

template struct Product<avx512::Matmul<DType::kF32>>;
template struct Product<avx512::Matmul<DType::kF16>>;
template struct Product<avx512::Matmul<DType::kBF16>>;

}  // namespace adit::kernels::generic
