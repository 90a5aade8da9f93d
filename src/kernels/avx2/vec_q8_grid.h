#ifndef ADIT_KERNELS_AVX2_VEC_Q8_GRID_H_
#define ADIT_KERNELS_AVX2_VEC_Q8_GRID_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx2/vec_q8.h"
#include "kernels/generic/unroll.h"

namespace adit::kernels::avx2 {

// What generic/matmul_codec_grid.h needs beside VecQ8. Words are the lanes of Bytes as numbers of 32 bits.
struct VecQ8Grid : VecQ8 {
  struct Mask {  // all bits of a byte or none
    __m256i v;
  };
  // Magnitudes, and bytes that are negative where a code is, and nowhere 0.
  struct SignedCodes {
    Bytes magnitudes;
    Bytes signs;
  };

  [[gnu::always_inline]] static Bytes WidenBytes(const uint8_t* p) {
    return {_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)))};
  }
  // The halves of vector v.
  [[gnu::always_inline]] static Bytes WidenHalves(const std::byte* halves, int v) {
    return {_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves) + v))};
  }
  [[gnu::always_inline]] static void StoreWords(uint32_t* p, Bytes a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v);
  }
  // Each word moved up by kShift, or down where it is negative.
  template <int kShift>
  [[gnu::always_inline]] static Bytes ShiftWords(Bytes a) {
    return {kShift < 0 ? _mm256_srli_epi32(a.v, -kShift) : _mm256_slli_epi32(a.v, kShift)};
  }
  // The same, and then the bits of `mask`.
  template <int kShift>
  [[gnu::always_inline]] static Bytes ShiftWordsAnd(Bytes a, uint32_t mask) {
    if constexpr (kShift > 0) a.v = _mm256_slli_epi32(a.v, kShift);
    if constexpr (kShift < 0) a.v = _mm256_srli_epi32(a.v, -kShift);
    return {_mm256_and_si256(a.v, _mm256_set1_epi32(static_cast<int>(mask)))};
  }
  [[gnu::always_inline]] static Bytes Xor(Bytes a, Bytes b) { return {_mm256_xor_si256(a.v, b.v)}; }
  [[gnu::always_inline]] static F32 WordsToFloat(Bytes a) { return {_mm256_cvtepi32_ps(a.v)}; }

  // Codes that are negative where bit kBit of a byte of `plane` is set.
  template <int kBit>
  [[gnu::always_inline]] static SignedCodes WithSigns(Bytes magnitudes, Bytes plane) {
    const __m256i signs = _mm256_or_si256(_mm256_slli_epi16(plane.v, 7 - kBit), _mm256_set1_epi8(1));
    return {magnitudes, {signs}};
  }
  [[gnu::always_inline]] static Bytes AddTo(int center, SignedCodes a) {
    return {_mm256_add_epi8(_mm256_set1_epi8(static_cast<char>(center)), _mm256_sign_epi8(a.magnitudes.v, a.signs.v))};
  }
  // As UnsignedDot, of signed codes whose magnitudes are kMaxMagnitude at most: the signs go to the activations.
  template <int kMaxMagnitude>
  struct SignedDot : UnsignedDot<kMaxMagnitude> {
    using Weight = SignedCodes;
    [[gnu::always_inline]] static Weight Prepare(SignedCodes w) { return w; }
    template <int kStep, int kSteps>
    [[gnu::always_inline]] void Add(Weight w, Bytes x) {
      this->template AddPairs<kStep, kSteps>(_mm256_maddubs_epi16(w.magnitudes.v, _mm256_sign_epi8(x.v, w.signs.v)));
    }
  };

  // Of each lane, whether bit kBit is set, four times.
  template <int kBit>
  [[gnu::always_inline]] static Mask LanesWithBit(Bytes a) {
    return {_mm256_srai_epi32(_mm256_slli_epi32(a.v, 31 - kBit), 31)};
  }
  // a + with for bytes that the mask has, a + without for others.
  [[gnu::always_inline]] static Bytes AddOneOfTwo(Bytes a, int without, int with, Mask mask) {
    const __m256i add = _mm256_blendv_epi8(_mm256_set1_epi8(static_cast<char>(without)),
                                           _mm256_set1_epi8(static_cast<char>(with)), mask.v);
    return {_mm256_add_epi8(a.v, add)};
  }

  // grid[index[i]] for each lane i. Loads one by one: gathers take 1.8 times as long (docs/rejected.md).
  template <class Integer>
  [[gnu::always_inline]] static Bytes LookUp(const uint32_t* grid, const Integer* index) {
    const auto at = [grid, index](int i) ADIT_INLINE_LAMBDA { return static_cast<int>(grid[index[i]]); };
    return {_mm256_setr_epi32(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))};
  }
  // The same of entries of eight bytes: the lower and the upper four.
  template <class Integer>
  [[gnu::always_inline]] static void LookUpPair(const uint64_t* grid, const Integer* index, Bytes (&pair)[2]) {
    const auto two = [grid, index](int i) ADIT_INLINE_LAMBDA {
      const __m128d first = _mm_load_sd(reinterpret_cast<const double*>(grid + index[i]));
      return _mm_castpd_ps(_mm_loadh_pd(first, reinterpret_cast<const double*>(grid + index[i + 1])));
    };
    const __m256 even = _mm256_insertf128_ps(_mm256_castps128_ps256(two(0)), two(4), 1);
    const __m256 odd = _mm256_insertf128_ps(_mm256_castps128_ps256(two(2)), two(6), 1);
    pair[0].v = _mm256_castps_si256(_mm256_shuffle_ps(even, odd, 0b10001000));
    pair[1].v = _mm256_castps_si256(_mm256_shuffle_ps(even, odd, 0b11011101));
  }
};

}  // namespace adit::kernels::avx2

#endif  // ADIT_KERNELS_AVX2_VEC_Q8_GRID_H_
