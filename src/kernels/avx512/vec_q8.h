#ifndef ADIT_KERNELS_AVX512_VEC_Q8_H_
#define ADIT_KERNELS_AVX512_VEC_Q8_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx512/vec_f32.h"

namespace adit::kernels::avx512 {

// The integer side of the matrix product: what generic/matmul_q8.h is a template over. A lane of 32 bits is an output
// row. Needs AVX-512 F, BW, VL and VNNI.
struct VecQ8 {
  using F32 = VecF32;
  static constexpr int kLanes = 16;
  // A panel is two vectors, and a register tile two vectors by six tokens: twelve chains of vpdpbusd, of which a
  // processor starts two a cycle and waits four to five for each. Their float sums fit in registers beside them, and
  // the reorder buffer holds two blocks of 32 columns, so that the end of one runs beside the products of the next.
  // Share of the peak on Zen 5, weights and activations in the first-level cache, one scale for 32 columns: 4 tokens
  // 0.77, 6 0.79 (the ports allow 0.80), 8 0.72, 12 0.56.
  static constexpr int kVecs = 2;
  static constexpr int kRows = kVecs * kLanes;
  static constexpr int kLargeTile = 6;
  static constexpr int kSmallTile = 4;
  static constexpr int kQuadBytes = kRows * 4;  // four columns of a panel, a byte each
  static constexpr bool kSignedBytes = false;   // vpdpbusd takes unsigned weights: those of eight bits have 128 added
  static constexpr bool kOffsetFirst = true;    // sums start from the negated offset

  struct Bytes {  // four columns of each lane
    __m512i v;
  };
  struct Ints {
    __m512i v;
  };

  [[gnu::always_inline]] static Bytes Load(const std::byte* p) { return {_mm512_loadu_si512(p)}; }
  [[gnu::always_inline]] static void Store(std::byte* p, Bytes a) { _mm512_storeu_si512(p, a.v); }
  // The four codes at p in every lane.
  [[gnu::always_inline]] static Bytes BroadcastQuad(const int8_t* p) {
    int32_t quad;
    __builtin_memcpy(&quad, p, sizeof(quad));
    return {_mm512_set1_epi32(quad)};
  }
  // The bits of each byte moved up by kShift, or down where it is negative, and then those of `mask`. Bits that pass
  // from one byte to the next must not be in the mask.
  template <int kShift>
  [[gnu::always_inline]] static Bytes ShiftAnd(Bytes a, uint8_t mask) {
    if constexpr (kShift > 0) a.v = _mm512_slli_epi16(a.v, kShift);
    if constexpr (kShift < 0) a.v = _mm512_srli_epi16(a.v, -kShift);
    return {_mm512_and_si512(a.v, _mm512_set1_epi8(static_cast<char>(mask)))};
  }
  [[gnu::always_inline]] static Bytes Or(Bytes a, Bytes b) { return {_mm512_or_si512(a.v, b.v)}; }
  // table[a] for each byte a, 0..15.
  [[gnu::always_inline]] static Bytes Lookup(const uint8_t table[16], Bytes a) {
    const __m128i quarter = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return {_mm512_shuffle_epi8(_mm512_broadcast_i32x4(quarter), a.v)};
  }

  [[gnu::always_inline]] static Ints BroadcastInt(const int32_t* p) { return {_mm512_set1_epi32(*p)}; }
  [[gnu::always_inline]] static Ints Add(Ints a, Ints b) { return {_mm512_add_epi32(a.v, b.v)}; }
  // -(a * 2^kBits).
  template <int kBits>
  [[gnu::always_inline]] static Ints MinusShifted(Ints a) {
    return {_mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(a.v, kBits))};
  }
  [[gnu::always_inline]] static F32 ToFloat(Ints a) { return {_mm512_cvtepi32_ps(a.v)}; }
  // Bits kFirstBit + 3..kFirstBit of kLanes bytes.
  template <int kFirstBit>
  [[gnu::always_inline]] static F32 NibblesToFloat(const uint8_t* p) {
    const __m512i wide = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return {_mm512_cvtepi32_ps(_mm512_and_si512(_mm512_srli_epi32(wide, kFirstBit), _mm512_set1_epi32(15)))};
  }

  // 2^(p[i] - 128), subnormal numbers too (PowerToFloat of tensor/fp4_scales.h): the exponent where there is one, and a
  // bit of the mantissa below.
  [[gnu::always_inline]] static F32 PowersToFloat(const uint8_t* p) {
    const __m512i e = _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(e, one), 23);
    const __m512i subnormal = _mm512_slli_epi32(_mm512_add_epi32(e, one), 21);
    return {_mm512_castsi512_ps(_mm512_max_epi32(normal, subnormal))};
  }
  // Half of each E4M3, whose sign is left out: as the bits of a half-precision number it is 2^-8 of itself.
  [[gnu::always_inline]] static F32 E4M3ToHalfFloat(const uint8_t* p) {
    const __m256i bytes = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    const __m256i halves = _mm256_and_si256(_mm256_slli_epi16(bytes, 7), _mm256_set1_epi16(0x3f80));
    return {_mm512_mul_ps(_mm512_cvtph_ps(halves), _mm512_set1_ps(128.0f))};
  }

  // A sum of products of unsigned codes with activations -127..127, exact: 32 products are less than 2^21.
  struct ByteDot {
    using Weight = Bytes;
    __m512i ints;

    [[gnu::always_inline]] static Weight Prepare(Bytes w) { return w; }
    [[gnu::always_inline]] void Start() { ints = _mm512_setzero_si512(); }
    [[gnu::always_inline]] void Start(Ints first) { ints = first.v; }
    // Adds the products of four columns.
    template <int kStep, int kSteps>
    [[gnu::always_inline]] void Add(Weight w, Bytes x) {
      ints = _mm512_dpbusd_epi32(ints, w.v, x.v);
    }
    [[gnu::always_inline]] Ints Total() const { return {ints}; }
  };
  template <int kMaxCode>
  using UnsignedDot = ByteDot;
};

}  // namespace adit::kernels::avx512

#endif  // ADIT_KERNELS_AVX512_VEC_Q8_H_
