#ifndef ADIT_KERNELS_AVX512BF16_PAIR_PRODUCT_H_
#define ADIT_KERNELS_AVX512BF16_PAIR_PRODUCT_H_

#include <immintrin.h>

#include <cstdint>

#include "kernels/avx512/plain_shape.h"
#include "kernels/avx512/vec_f32.h"
#include "kernels/avx512bf16/matmul.h"

namespace adit::kernels::avx512bf16 {

using avx512::VecF32;

// Two columns of sixteen rows at a time: each lane adds the product of the odd column, then that of the even one, each
// rounded once to float32. Subnormal numbers count as zero.
struct PairProduct {
  struct Pairs {
    __m512bh v;
  };
  using Stored = uint32_t;
  static constexpr int kStepCols = 2;

  [[gnu::always_inline]] static Pairs Load(const Stored* p) {
    return {reinterpret_cast<__m512bh>(_mm512_loadu_si512(p))};
  }
  [[gnu::always_inline]] static Pairs Broadcast(float x) {
    return {reinterpret_cast<__m512bh>(_mm512_castps_si512(_mm512_set1_ps(x)))};
  }
  [[gnu::always_inline]] static VecF32 MultiplyAdd(Pairs w, Pairs a, VecF32 acc) {
    return {_mm512_dpbf16_ps(acc.v, w.v, a.v)};
  }
  // Rounds to nearest even, with zeros after the last. Writes whole vectors of pairs.
  [[gnu::always_inline]] static void Arrange(const float* from, int64_t n, float* to) {
    constexpr int kLanes = VecF32::kLanes;
    for (int64_t i = 0; i < n; i += 2 * kLanes) {
      const int64_t low = n - i < kLanes ? n - i : kLanes;
      const int64_t high = n - i - low < kLanes ? n - i - low : kLanes;
      const VecF32 first = VecF32::LoadPartial(from + i, low);
      const VecF32 second = VecF32::LoadPartial(from + i + low, high);
      const __m512bh pairs = _mm512_cvtne2ps_pbh(second.v, first.v);
      _mm512_storeu_si512(to + i / 2, reinterpret_cast<__m512i>(pairs));
    }
  }
};

// A step is two columns and takes the registers of one.
using PairShape = avx512::PlainShape;
static_assert(kPanelRows == avx512::kPlainPanelRows);

}  // namespace adit::kernels::avx512bf16

#endif  // ADIT_KERNELS_AVX512BF16_PAIR_PRODUCT_H_
