#include "kernels/generic/matmul_f32.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/plain_shape.h"
#include "kernels/avx2/vec_f32.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx2 {

template <DType kType>
struct Matmul : generic::MatmulF32<PlainShape, generic::WidenedProduct<VecF32, kType>> {};

}  // namespace adit::kernels::avx2

namespace adit::kernels::generic {

template struct Product<avx2::Matmul<DType::kF32>>;
template struct Product<avx2::Matmul<DType::kF16>>;
template struct Product<avx2::Matmul<DType::kBF16>>;

}  // namespace adit::kernels::generic
