#ifndef ADIT_KERNELS_AVX2_PLAIN_SHAPE_H_
#define ADIT_KERNELS_AVX2_PLAIN_SHAPE_H_

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

}  // namespace adit::kernels::avx2

#endif  // ADIT_KERNELS_AVX2_PLAIN_SHAPE_H_
