#include "kernels/generic/matmul_f32.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/vec_f32.h"

namespace adit::kernels::avx2 {

// A register tile is four vectors of rows by up to three tokens: 12 sums, and four vectors of weights of which the
// product can read one from memory, out of 16 registers.
struct PlainShape {
  using F32 = VecF32;
  static constexpr int kVecs = kPlainPanelRows / VecF32::kLanes;
  static constexpr int kDirectTiles[] = {3, 2, 1};
  static constexpr int kTiles[] = {3, 2, 1};
};

template <DType kType>
using Plain = generic::MatmulF32<PlainShape, kType>;

template <DType kType>
size_t Product<kType>::PanelBytes(int64_t num_cols) noexcept {
  return Plain<kType>::PanelBytes(num_cols);
}
template <DType kType>
void Product<kType>::Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Plain<kType>::Pack(args, panel_begin, panel_end);
}
template <DType kType>
void Product<kType>::Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept {
  Plain<kType>::Multiply(args, panel_begin, panel_end);
}

template struct Product<DType::kF32>;
template struct Product<DType::kF16>;
template struct Product<DType::kBF16>;

}  // namespace adit::kernels::avx2
