#ifndef ADIT_KERNELS_AVX2_VEC_F32_H_
#define ADIT_KERNELS_AVX2_VEC_F32_H_

#include <immintrin.h>

#include <cstdint>

namespace adit::kernels::avx2 {

// Eight floats in a register: what kernels/generic is a template over. Needs AVX2, FMA and F16C.
// Partial loads and stores touch the first n elements alone, 0 <= n <= kLanes; lanes that are not loaded are zero.
struct VecF32 {
  static constexpr int kLanes = 8;
  // How products of few tokens prefetch (generic/prefetch.h), measured on Zen 3, where the hardware's own prefetch ends
  // at each page of 4 KB and starts anew in the next.
  static constexpr int kStreamAhead = 16384;
  static constexpr int kStreamLevel = 2;
  static constexpr int kRegisters = 16;  // vector registers that the instruction set has

  __m256 v;

  [[gnu::always_inline]] static VecF32 Zero() { return {_mm256_setzero_ps()}; }
  [[gnu::always_inline]] static VecF32 Broadcast(float x) { return {_mm256_set1_ps(x)}; }

  // Load and Store need 32-byte alignment, the others none.
  [[gnu::always_inline]] static VecF32 Load(const float* p) { return {_mm256_load_ps(p)}; }
  [[gnu::always_inline]] static VecF32 LoadU(const float* p) { return {_mm256_loadu_ps(p)}; }
  [[gnu::always_inline]] static VecF32 LoadPartial(const float* p, int64_t n) {
    return {_mm256_maskload_ps(p, FirstLanes(n))};
  }
  [[gnu::always_inline]] static void Store(float* p, VecF32 a) { _mm256_store_ps(p, a.v); }
  [[gnu::always_inline]] static void StoreU(float* p, VecF32 a) { _mm256_storeu_ps(p, a.v); }
  [[gnu::always_inline]] static void StorePartial(float* p, VecF32 a, int64_t n) {
    _mm256_maskstore_ps(p, FirstLanes(n), a.v);
  }

  // Loads that widen, exactly but for int32, which rounds to nearest even.
  [[gnu::always_inline]] static VecF32 LoadF16(const uint16_t* p) {
    return {_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))};
  }
  [[gnu::always_inline]] static VecF32 LoadBF16(const uint16_t* p) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16))};
  }
  [[gnu::always_inline]] static VecF32 LoadI8(const int8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
  }
  [[gnu::always_inline]] static VecF32 LoadU8(const uint8_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
  }
  // Numbers of E4M3 over 256: shifted, their bits are those of halves, whose exponents have a bias of 15 for their 7.
  // The bit of the sign is doubled by the widening. What E4M3 has as NaN is 480.
  [[gnu::always_inline]] static VecF32 LoadE4M3(const uint8_t* p) {
    const __m128i wide = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_cvtph_ps(_mm_and_si128(_mm_slli_epi16(wide, 7), _mm_set1_epi16(static_cast<int16_t>(0xbfff))))};
  }
  // The numbers themselves, NaN included.
  [[gnu::always_inline]] static VecF32 LoadE4M3OrNaN(const uint8_t* p) {
    const __m128i wide = _mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m128i halves = _mm_and_si128(_mm_slli_epi16(wide, 7), _mm_set1_epi16(static_cast<int16_t>(0xbfff)));
    const __m128i all_ones = _mm_set1_epi16(0x3f80);
    const __m128i is_nan = _mm_cmpeq_epi16(_mm_and_si128(halves, all_ones), all_ones);
    const __m128i or_nan = _mm_or_si128(halves, _mm_and_si128(is_nan, _mm_set1_epi16(0x7c00)));
    return {_mm256_mul_ps(_mm256_cvtph_ps(or_nan), _mm256_set1_ps(256.0f))};
  }
  // The signed numbers in the low four bits of each byte, and in the high four.
  [[gnu::always_inline]] static VecF32 LoadLowI4(const int8_t* p) {
    const __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(bytes, 28), 28))};
  }
  [[gnu::always_inline]] static VecF32 LoadHighI4(const int8_t* p) {
    const __m256i bytes = _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_cvtepi32_ps(_mm256_srai_epi32(bytes, 4))};
  }
  [[gnu::always_inline]] static VecF32 LoadI32(const int32_t* p) {
    return {_mm256_cvtepi32_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  [[gnu::always_inline]] static VecF32 LoadF16Partial(const uint16_t* p, int64_t n) {
    uint16_t all[kLanes] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = p[i];
    return LoadF16(all);
  }
  [[gnu::always_inline]] static VecF32 LoadBF16Partial(const uint16_t* p, int64_t n) {
    uint16_t all[kLanes] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = p[i];
    return LoadBF16(all);
  }
  // The n <= kLanes / 2 floats at p, each in two neighbouring lanes.
  [[gnu::always_inline]] static VecF32 LoadTwice(const float* p, int64_t n = kLanes / 2) {
    const __m128i mask = _mm_cmpgt_epi32(_mm_set1_epi32(static_cast<int>(n)), _mm_setr_epi32(0, 1, 2, 3));
    const __m256 low = _mm256_castps128_ps256(_mm_maskload_ps(p, mask));
    return {_mm256_permutevar8x32_ps(low, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3))};
  }

  // Stores that narrow, rounding to nearest, ties to even. NaN stays NaN.
  [[gnu::always_inline]] static void StoreF16(uint16_t* p, VecF32 a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT));
  }
  [[gnu::always_inline]] static void StoreBF16(uint16_t* p, VecF32 a) {
    const __m256i bits = _mm256_castps_si256(a.v);
    const __m256i high = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
    const __m256i rounded =
        _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd), 16);
    const __m256i nan = _mm256_or_si256(high, _mm256_set1_epi32(0x40));
    const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q));
    const __m256i result = _mm256_blendv_epi8(rounded, nan, is_nan);
    const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(result, result), 0b1000);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
  }
  [[gnu::always_inline]] static void StoreF16Partial(uint16_t* p, VecF32 a, int64_t n) {
    uint16_t all[kLanes];
    StoreF16(all, a);
    for (int64_t i = 0; i < n; ++i) p[i] = all[i];
  }
  [[gnu::always_inline]] static void StoreBF16Partial(uint16_t* p, VecF32 a, int64_t n) {
    uint16_t all[kLanes];
    StoreBF16(all, a);
    for (int64_t i = 0; i < n; ++i) p[i] = all[i];
  }

  [[gnu::always_inline]] static VecF32 Add(VecF32 a, VecF32 b) { return {_mm256_add_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Sub(VecF32 a, VecF32 b) { return {_mm256_sub_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Mul(VecF32 a, VecF32 b) { return {_mm256_mul_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Div(VecF32 a, VecF32 b) { return {_mm256_div_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Sqrt(VecF32 a) { return {_mm256_sqrt_ps(a.v)}; }
  // b where either is NaN.
  [[gnu::always_inline]] static VecF32 Max(VecF32 a, VecF32 b) { return {_mm256_max_ps(a.v, b.v)}; }
  [[gnu::always_inline]] static VecF32 Min(VecF32 a, VecF32 b) { return {_mm256_min_ps(a.v, b.v)}; }
  // a * b + c, a * b - c and c - a * b, each rounded once.
  [[gnu::always_inline]] static VecF32 Fma(VecF32 a, VecF32 b, VecF32 c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
  [[gnu::always_inline]] static VecF32 Fms(VecF32 a, VecF32 b, VecF32 c) { return {_mm256_fmsub_ps(a.v, b.v, c.v)}; }
  [[gnu::always_inline]] static VecF32 Fnma(VecF32 a, VecF32 b, VecF32 c) { return {_mm256_fnmadd_ps(a.v, b.v, c.v)}; }
  // a * b - c in even lanes, a * b + c in odd lanes.
  [[gnu::always_inline]] static VecF32 FmaSubAdd(VecF32 a, VecF32 b, VecF32 c) {
    return {_mm256_fmaddsub_ps(a.v, b.v, c.v)};
  }
  // Lanes 1 0 3 2 5 4 7 6.
  [[gnu::always_inline]] static VecF32 SwapPairs(VecF32 a) { return {_mm256_permute_ps(a.v, 0b10110001)}; }

  // To the nearest integer, ties to even.
  [[gnu::always_inline]] static VecF32 Round(VecF32 a) {
    return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
  // a * 2^n for integers n in -252..254, rounded once: 2^n is two factors, and the first product is exact for |a|
  // near 1.
  [[gnu::always_inline]] static VecF32 Ldexp(VecF32 a, VecF32 n) {
    const __m256i whole = _mm256_cvtps_epi32(n.v);
    const __m256i first = _mm256_srai_epi32(whole, 1);
    const __m256i second = _mm256_sub_epi32(whole, first);
    return {_mm256_mul_ps(_mm256_mul_ps(a.v, PowerOfTwo(first)), PowerOfTwo(second))};
  }
  // a * 2^n for integers n where a and the result are normal numbers; NaN stays NaN.
  [[gnu::always_inline]] static VecF32 LdexpNormal(VecF32 a, VecF32 n) {
    const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n.v), 23);
    return {_mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a.v), exponent))};
  }

  // Lane 0.
  [[gnu::always_inline]] static float First(VecF32 a) { return _mm256_cvtss_f32(a.v); }
  // ((0+4) + (2+6)) + ((1+5) + (3+7)).
  [[gnu::always_inline]] static float ReduceAdd(VecF32 a) {
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
  }
  [[gnu::always_inline]] static float ReduceMax(VecF32 a) {
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
  }

 private:
  [[gnu::always_inline]] static __m256i FirstLanes(int64_t n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  [[gnu::always_inline]] static __m256 PowerOfTwo(__m256i n) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
  }
};

}  // namespace adit::kernels::avx2

#endif  // ADIT_KERNELS_AVX2_VEC_F32_H_
