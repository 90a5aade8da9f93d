#ifndef ADIT_KERNELS_AVX512_VEC_Q8_GRID_H_
#define ADIT_KERNELS_AVX512_VEC_Q8_GRID_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/vec_q8.h"

namespace adit::kernels::avx512 {

// What generic/matmul_codec_grid.h needs beside VecQ8. Words are the lanes of Bytes as numbers of 32 bits.
struct VecQ8Grid : VecQ8 {
  struct Mask {
    __mmask64 k;
  };
  struct SignedCodes {
    Bytes magnitudes;
    Mask negative;
  };

  [[gnu::always_inline]] static Bytes WidenBytes(const uint8_t* p) {
    return {_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }
  // The halves of vector v.
  [[gnu::always_inline]] static Bytes WidenHalves(const std::byte* halves, int v) {
    return {_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves) + v))};
  }
  [[gnu::always_inline]] static void StoreWords(uint32_t* p, Bytes a) { _mm512_storeu_si512(p, a.v); }
  // Each word moved up by kShift, or down where it is negative.
  template <int kShift>
  [[gnu::always_inline]] static Bytes ShiftWords(Bytes a) {
    if constexpr (kShift < 0) return {_mm512_srli_epi32(a.v, -kShift)};
    return {_mm512_slli_epi32(a.v, kShift)};
  }
  // The same, and then the bits of `mask`.
  template <int kShift>
  [[gnu::always_inline]] static Bytes ShiftWordsAnd(Bytes a, uint32_t mask) {
    if constexpr (kShift > 0) a.v = _mm512_slli_epi32(a.v, kShift);
    if constexpr (kShift < 0) a.v = _mm512_srli_epi32(a.v, -kShift);
    return {_mm512_and_si512(a.v, _mm512_set1_epi32(static_cast<int>(mask)))};
  }
  [[gnu::always_inline]] static Bytes Xor(Bytes a, Bytes b) { return {_mm512_xor_si512(a.v, b.v)}; }
  [[gnu::always_inline]] static F32 WordsToFloat(Bytes a) { return {_mm512_cvtepi32_ps(a.v)}; }

  // Codes that are negative where bit kBit of a byte of `plane` is set.
  template <int kBit>
  [[gnu::always_inline]] static SignedCodes WithSigns(Bytes magnitudes, Bytes plane) {
    return {magnitudes, {_mm512_test_epi8_mask(plane.v, _mm512_set1_epi8(static_cast<char>(1 << kBit)))}};
  }
  [[gnu::always_inline]] static Bytes AddTo(int center, SignedCodes a) {
    const __m512i c = _mm512_set1_epi8(static_cast<char>(center));
    const __m512i m = a.magnitudes.v;
    return {_mm512_mask_sub_epi8(_mm512_add_epi8(c, m), a.negative.k, c, m)};
  }
  // As ByteDot, of signed codes: the signs go to the activations.
  template <int kMaxMagnitude>
  struct SignedDot : ByteDot {
    using Weight = SignedCodes;
    [[gnu::always_inline]] static Weight Prepare(SignedCodes w) { return w; }
    template <int kStep, int kSteps>
    [[gnu::always_inline]] void Add(Weight w, Bytes x) {
      const __m512i signed_x = _mm512_mask_sub_epi8(x.v, w.negative.k, _mm512_setzero_si512(), x.v);
      ints = _mm512_dpbusd_epi32(ints, w.magnitudes.v, signed_x);
    }
  };

  // Of each lane, whether bit kBit is set, four times.
  template <int kBit>
  [[gnu::always_inline]] static Mask LanesWithBit(Bytes a) {
    return {_mm512_test_epi8_mask(SpreadByte<kBit / 8>(a).v, _mm512_set1_epi8(static_cast<char>(1 << kBit % 8)))};
  }
  // a + with for bytes that the mask has, a + without for others.
  [[gnu::always_inline]] static Bytes AddOneOfTwo(Bytes a, int without, int with, Mask mask) {
    const __m512i add = _mm512_mask_blend_epi8(mask.k, _mm512_set1_epi8(static_cast<char>(without)),
                                               _mm512_set1_epi8(static_cast<char>(with)));
    return {_mm512_add_epi8(a.v, add)};
  }

  // grid[index[i]] for each lane i.
  template <class Integer>
  [[gnu::always_inline]] static Bytes LookUp(const uint32_t* grid, const Integer* index) {
    return {_mm512_i32gather_epi32(Indices(index), grid, 4)};
  }
  // The same of entries of eight bytes: the lower and the upper four.
  template <class Integer>
  [[gnu::always_inline]] static void LookUpPair(const uint64_t* grid, const Integer* index, Bytes (&pair)[2]) {
    const auto* halves = reinterpret_cast<const std::byte*>(grid);
    const __m512i i = Indices(index);
    pair[0].v = _mm512_i32gather_epi32(i, halves, 8);
    pair[1].v = _mm512_i32gather_epi32(i, halves + 4, 8);
  }

 private:
  // Byte kByte of each lane in all four.
  template <int kByte>
  [[gnu::always_inline]] static Bytes SpreadByte(Bytes a) {
    constexpr int kSpread = 0x01010101 * kByte;
    const __m128i spread = _mm_setr_epi32(kSpread, kSpread + 0x04040404, kSpread + 0x08080808, kSpread + 0x0c0c0c0c);
    return {_mm512_shuffle_epi8(a.v, _mm512_broadcast_i32x4(spread))};
  }
  [[gnu::always_inline]] static __m512i Indices(const uint8_t* p) { return WidenBytes(p).v; }
  [[gnu::always_inline]] static __m512i Indices(const uint32_t* p) { return _mm512_loadu_si512(p); }
};

}  // namespace adit::kernels::avx512

#endif  // ADIT_KERNELS_AVX512_VEC_Q8_GRID_H_
