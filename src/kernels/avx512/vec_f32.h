#ifndef ADIT_KERNELS_AVX512_VEC_F32_H_
#define ADIT_KERNELS_AVX512_VEC_F32_H_

#include <immintrin.h>

#include <cstdint>

namespace adit::kernels::avx512 {

// Sixteen floats in a register: what kernels/generic is a template over. Needs AVX-512 F, BW, DQ and VL.
// Partial loads and stores touch the first n elements alone, 0 <= n <= kLanes; lanes that are not loaded are zero.
struct VecF32 {
  static constexpr int kLanes = 16;
  static constexpr int kRegisters = 32;  // vector registers that the instruction set has
  // How products of few tokens prefetch (generic/prefetch.h). A stream of 550 MB by one Zen 5 core, in GB/s, where a
  // loop that only reads reaches 42; Q4_0, Q8_0, Q4_K, Q6_K:
  //   none          38  41  22  21
  //   4 KB, L1      40  40  38  37
  //   6 KB, L1      40  40  40  39
  //   16 KB, L1     39  38  36  36
  //   16 KB, L2     37  38  31  32
  static constexpr int kStreamAhead = 6144;
  static constexpr int kStreamLevel = 1;

  __m512 v;

  [[gnu::always_inline]] static VecF32 Zero() { return {_mm512_setzero_ps()}; }
  [[gnu::always_inline]] static VecF32 Broadcast(float x) { return {_mm512_set1_ps(x)}; }

  // Load and Store need 64-byte alignment, the others none.
  [[gnu::always_inline]] static VecF32 Load(const float* p) { return {_mm512_load_ps(p)}; }
  [[gnu::always_inline]] static VecF32 LoadU(const float* p) { return {_mm512_loadu_ps(p)}; }
  [[gnu::always_inline]] static VecF32 LoadPartial(const float* p, int64_t n) {
    return {_mm512_maskz_loadu_ps(FirstLanes(n), p)};
  }
  [[gnu::always_inline]] static void Store(float* p, VecF32 a) { _mm512_store_ps(p, a.v); }
  [[gnu::always_inline]] static void StoreU(float* p, VecF32 a) { _mm512_storeu_ps(p, a.v); }
  [[gnu::always_inline]] static void StorePartial(float* p, VecF32 a, int64_t n) {
    _mm512_mask_storeu_ps(p, FirstLanes(n), a.v);
  }

  // Loads that widen, exactly but for int32, which rounds to nearest even.
  [[gnu::always_inline]] static VecF32 LoadF16(const uint16_t* p) { return {_mm512_cvtph_ps(Load16(p))}; }
  [[gnu::always_inline]] static VecF32 LoadBF16(const uint16_t* p) { return WidenBF16(Load16(p)); }
  [[gnu::always_inline]] static VecF32 LoadI8(const int8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
  }
  [[gnu::always_inline]] static VecF32 LoadU8(const uint8_t* p) {
    return {_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
  }
  // Numbers of E4M3 over 256: shifted, their bits are those of halves, whose exponents have a bias of 15 for their 7.
  // The bit of the sign is doubled by the widening. What E4M3 has as NaN is 480.
  [[gnu::always_inline]] static VecF32 LoadE4M3(const uint8_t* p) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m256i halves =
        _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16(static_cast<int16_t>(0xbfff)));
    return {_mm512_cvtph_ps(halves)};
  }
  // The numbers themselves, NaN included.
  [[gnu::always_inline]] static VecF32 LoadE4M3OrNaN(const uint8_t* p) {
    const __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m256i halves =
        _mm256_and_si256(_mm256_slli_epi16(wide, 7), _mm256_set1_epi16(static_cast<int16_t>(0xbfff)));
    const __m256i all_ones = _mm256_set1_epi16(0x3f80);
    const __m256i is_nan = _mm256_cmpeq_epi16(_mm256_and_si256(halves, all_ones), all_ones);
    const __m256i or_nan = _mm256_or_si256(halves, _mm256_and_si256(is_nan, _mm256_set1_epi16(0x7c00)));
    return {_mm512_mul_ps(_mm512_cvtph_ps(or_nan), _mm512_set1_ps(256.0f))};
  }
  // The signed numbers in the low four bits of each byte, and in the high four. The lookup takes four bits of its
  // index.
  [[gnu::always_inline]] static VecF32 LoadLowI4(const int8_t* p) {
    return {_mm512_permutexvar_ps(WidenU8(p), SignedI4())};
  }
  [[gnu::always_inline]] static VecF32 LoadHighI4(const int8_t* p) {
    return {_mm512_permutexvar_ps(_mm512_srli_epi32(WidenU8(p), 4), SignedI4())};
  }
  [[gnu::always_inline]] static VecF32 LoadI32(const int32_t* p) { return {_mm512_cvtepi32_ps(_mm512_loadu_si512(p))}; }
  [[gnu::always_inline]] static VecF32 LoadF16Partial(const uint16_t* p, int64_t n) {
    return {_mm512_cvtph_ps(_mm256_maskz_loadu_epi16(FirstLanes(n), p))};
  }
  [[gnu::always_inline]] static VecF32 LoadBF16Partial(const uint16_t* p, int64_t n) {
    return WidenBF16(_mm256_maskz_loadu_epi16(FirstLanes(n), p));
  }
  // The n <= kLanes / 2 floats at p, each in two neighbouring lanes.
  [[gnu::always_inline]] static VecF32 LoadTwice(const float* p, int64_t n = kLanes / 2) {
    const __m512i index = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    return {_mm512_permutexvar_ps(index, LoadPartial(p, n).v)};
  }

  // Stores that narrow, rounding to nearest, ties to even. NaN stays NaN.
  [[gnu::always_inline]] static void StoreF16(uint16_t* p, VecF32 a) { Store16(p, NarrowF16(a)); }
  [[gnu::always_inline]] static void StoreBF16(uint16_t* p, VecF32 a) { Store16(p, NarrowBF16(a)); }
  [[gnu::always_inline]] static void StoreF16Partial(uint16_t* p, VecF32 a, int64_t n) {
    _mm256_mask_storeu_epi16(p, FirstLanes(n), NarrowF16(a));
  }
  [[gnu::always_inline]] static void StoreBF16Partial(uint16_t* p, VecF32 a, int64_t n) {
    _mm256_mask_storeu_epi16(p, FirstLanes(n), NarrowBF16(a));
  }

  [[gnu::always_inline]] static VecF32 Add(VecF32 a, VecF32 b) { return {_mm512_add_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Sub(VecF32 a, VecF32 b) { return {_mm512_sub_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Mul(VecF32 a, VecF32 b) { return {_mm512_mul_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Div(VecF32 a, VecF32 b) { return {_mm512_div_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Sqrt(VecF32 a) { return {_mm512_sqrt_ps(a.v)}; }
  // b where either is NaN.
  [[gnu::always_inline]] static VecF32 Max(VecF32 a, VecF32 b) { return {_mm512_max_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Min(VecF32 a, VecF32 b) { return {_mm512_min_ps(a.v, b.v)}; }
  // a * b + c, a * b - c and c - a * b, each rounded once.
  [[gnu::always_inline]] static VecF32 Fma(VecF32 a, VecF32 b, VecF32 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
  [[gnu::always_inline]] static VecF32 Fms(VecF32 a, VecF32 b, VecF32 c) { return {_mm512_fmsub_ps(a.v, b.v, c.v)}; }
  [[gnu::always_inline]] static VecF32 Fnma(VecF32 a, VecF32 b, VecF32 c) { return {_mm512_fnmadd_ps(a.v, b.v, c.v)}; }
  // a * b - c in even lanes, a * b + c in odd lanes.
  [[gnu::always_inline]] static VecF32 FmaSubAdd(VecF32 a, VecF32 b, VecF32 c) {
    return {_mm512_fmaddsub_ps(a.v, b.v, c.v)};
  }
  // Lanes 1 0 3 2 ... 15 14.
  [[gnu::always_inline]] static VecF32 SwapPairs(VecF32 a) { return {_mm512_permute_ps(a.v, 0b10110001)}; }

  // To the nearest integer, ties to even.
  [[gnu::always_inline]] static VecF32 Round(VecF32 a) {
    return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  // a * 2^n for integers n, rounded once.
  [[gnu::always_inline]] static VecF32 Ldexp(VecF32 a, VecF32 n) { return {_mm512_scalef_ps(a.v, n.v)}; }
  // a * 2^n for integers n where a and the result are normal numbers; NaN stays NaN.
  [[gnu::always_inline]] static VecF32 LdexpNormal(VecF32 a, VecF32 n) { return Ldexp(a, n); }

  // Lane 0.
  [[gnu::always_inline]] static float First(VecF32 a) { return _mm_cvtss_f32(_mm512_castps512_ps128(a.v)); }
  // Lane i and lane i + 8, then of the eight sums ((0+4) + (2+6)) + ((1+5) + (3+7)).
  [[gnu::always_inline]] static float ReduceAdd(VecF32 a) {
    const __m256 eight = _mm256_add_ps(LowHalf(a), HighHalf(a));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  [[gnu::always_inline]] static float ReduceMax(VecF32 a) {
    const __m256 eight = _mm256_max_ps(LowHalf(a), HighHalf(a));
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }

 private:
  [[gnu::always_inline]] static __m512i WidenU8(const int8_t* p) {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  [[gnu::always_inline]] static __m512 SignedI4() {
    return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
  }
  [[gnu::always_inline]] static __mmask16 FirstLanes(int64_t n) { return static_cast<__mmask16>((1u << n) - 1u); }
  [[gnu::always_inline]] static __m256 LowHalf(VecF32 a) { return _mm512_castps512_ps256(a.v); }
  [[gnu::always_inline]] static __m256 HighHalf(VecF32 a) { return _mm512_extractf32x8_ps(a.v, 1); }
  [[gnu::always_inline]] static __m256i Load16(const uint16_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  [[gnu::always_inline]] static void Store16(uint16_t* p, __m256i a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a);
  }
  [[gnu::always_inline]] static VecF32 WidenBF16(__m256i a) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(a), 16))};
  }
  [[gnu::always_inline]] static __m256i NarrowF16(VecF32 a) { return _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT); }
  [[gnu::always_inline]] static __m256i NarrowBF16(VecF32 a) {
    const __m512i bits = _mm512_castps_si512(a.v);
    const __m512i high = _mm512_srli_epi32(bits, 16);
    const __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd), 16);
    const __m512i nan = _mm512_or_si512(high, _mm512_set1_epi32(0x40));
    const __mmask16 is_nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
    return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded, is_nan, nan));
  }
};

}  // namespace adit::kernels::avx512

#endif  // ADIT_KERNELS_AVX512_VEC_F32_H_
