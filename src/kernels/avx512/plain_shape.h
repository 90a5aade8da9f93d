#ifndef ADIT_KERNELS_AVX512_PLAIN_SHAPE_H_
#define ADIT_KERNELS_AVX512_PLAIN_SHAPE_H_

#include "kernels/avx512/matmul.h"
#include "kernels/avx512/vec_f32.h"

namespace adit::kernels::avx512 {

// A register tile is two vectors of rows by up to twelve tokens: 24 sums, two vectors of weights and one activation out
// of 32 registers.
struct PlainShape {
  using F32 = VecF32;
  static constexpr int kVecs = kPlainPanelRows / VecF32::kLanes;
  static constexpr int kTiles[] = {12, 8, 4, 2, 1};
  static constexpr int kWholeTokens = 12;
  static constexpr int kDirectTokens = 4;
};

}  // namespace adit::kernels::avx512

#endif  // ADIT_KERNELS_AVX512_PLAIN_SHAPE_H_
