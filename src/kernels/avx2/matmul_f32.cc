#include "kernels/generic/matmul_f32.h"

#include "kernels/avx2/matmul.h"
#include "kernels/avx2/vec_f32.h"

namespace adit::kernels::avx2 {

// A register tile is two vectors of rows by up to six tokens: 12 sums, two vectors of weights and one activation out of
// 16 registers. One or two tokens take the four vectors of a panel, for the latency of vfmadd: 4 cycles, two a cycle.
struct PlainShape {
  using F32 = VecF32;
  static constexpr int kVecs = kPlainPanelRows / VecF32::kLanes;
  static constexpr int kTiles[] = {6, 4, 3, 2, 1};
  static constexpr int kWholeTokens = 2;
  static constexpr int kDirectTokens = 2;
};

template <DType kType>
using Plain = generic::MatmulF32<PlainShape, generic::WidenedProduct<VecF32, kType>>;

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
