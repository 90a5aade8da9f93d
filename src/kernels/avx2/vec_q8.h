#ifndef ADIT_KERNELS_AVX2_VEC_Q8_H_
#define ADIT_KERNELS_AVX2_VEC_Q8_H_

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/avx2/vec_f32.h"

namespace adit::kernels::avx2 {

// The integer side of the matrix product: what generic/matmul_q8.h is a template over. A lane of 32 bits is an output
// row.
struct VecQ8 {
  using F32 = VecF32;
  static constexpr int kLanes = 8;
  // A panel is two vectors, and a register tile two vectors by six tokens: 12 sums, which leave registers for the two
  // vectors of weights, one of activations and one of products. With four tokens the tile is hardly slower.
  static constexpr int kVecs = 2;
  static constexpr int kRows = kVecs * kLanes;
  static constexpr int kLargeTile = 6;
  static constexpr int kSmallTile = 4;
  static constexpr int kQuadBytes = kRows * 4;  // four columns of a panel, a byte each
  static constexpr bool kSignedBytes = true;    // weights of eight bits keep their sign
  static constexpr bool kOffsetFirst = false;   // offsets are taken off after the sum

  struct Bytes {  // four columns of each lane
    __m256i v;
  };
  struct Ints {
    __m256i v;
  };

  [[gnu::always_inline]] static Bytes Load(const std::byte* p) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))};
  }
  [[gnu::always_inline]] static void Store(std::byte* p, Bytes a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a.v);
  }
  // The four codes at p in every lane.
  [[gnu::always_inline]] static Bytes BroadcastQuad(const int8_t* p) {
    int32_t quad;
    __builtin_memcpy(&quad, p, sizeof(quad));
    return {_mm256_set1_epi32(quad)};
  }
  // The bits of each byte moved up by kShift, or down where it is negative, and then those of `mask`. Bits that pass
  // from one byte to the next must not be in the mask.
  template <int kShift>
  [[gnu::always_inline]] static Bytes ShiftAnd(Bytes a, uint8_t mask) {
    if constexpr (kShift > 0) a.v = _mm256_slli_epi16(a.v, kShift);
    if constexpr (kShift < 0) a.v = _mm256_srli_epi16(a.v, -kShift);
    return {_mm256_and_si256(a.v, _mm256_set1_epi8(static_cast<char>(mask)))};
  }
  [[gnu::always_inline]] static Bytes Or(Bytes a, Bytes b) { return {_mm256_or_si256(a.v, b.v)}; }
  // table[a] for each byte a, 0..15.
  [[gnu::always_inline]] static Bytes Lookup(const uint8_t table[16], Bytes a) {
    const __m128i half = _mm_loadu_si128(reinterpret_cast<const __m128i*>(table));
    return {_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(half), a.v)};
  }

  [[gnu::always_inline]] static Ints BroadcastInt(const int32_t* p) { return {_mm256_set1_epi32(*p)}; }
  [[gnu::always_inline]] static Ints Add(Ints a, Ints b) { return {_mm256_add_epi32(a.v, b.v)}; }
  // -(a * 2^kBits).
  template <int kBits>
  [[gnu::always_inline]] static Ints MinusShifted(Ints a) {
    return {_mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(a.v, kBits))};
  }
  [[gnu::always_inline]] static F32 ToFloat(Ints a) { return {_mm256_cvtepi32_ps(a.v)}; }
  // Bits kFirstBit + 3..kFirstBit of kLanes bytes.
  template <int kFirstBit>
  [[gnu::always_inline]] static F32 NibblesToFloat(const uint8_t* p) {
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    return {_mm256_cvtepi32_ps(_mm256_and_si256(_mm256_srli_epi32(wide, kFirstBit), _mm256_set1_epi32(15)))};
  }

  // 2^(p[i] - 128), subnormal numbers too (PowerToFloat of tensor/fp4_scales.h): the exponent where there is one, and a
  // bit of the mantissa below.
  [[gnu::always_inline]] static F32 PowersToFloat(const uint8_t* p) {
    const __m256i e = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, one), 23);
    const __m256i subnormal = _mm256_slli_epi32(_mm256_add_epi32(e, one), 21);
    return {_mm256_castsi256_ps(_mm256_max_epi32(normal, subnormal))};
  }
  // Half of each E4M3, whose sign is left out: as the bits of a half-precision number it is 2^-8 of itself.
  [[gnu::always_inline]] static F32 E4M3ToHalfFloat(const uint8_t* p) {
    const __m128i bytes = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    const __m128i halves = _mm_and_si128(_mm_slli_epi16(bytes, 7), _mm_set1_epi16(0x3f80));
    return {_mm256_mul_ps(_mm256_cvtph_ps(halves), _mm256_set1_ps(128.0f))};
  }

  // A sum of products of unsigned codes 0..kMaxCode with activations -127..127, exact. vpmaddubsw leaves the sums of
  // two products in 16 bits; kRun of them fit there before they are widened: 15 * 127 * 2 * 8 = 30480, 31 * 127 * 2 * 4
  // = 31496, 63 * 127 * 2 * 2 = 32004.
  template <int kMaxCode>
  struct UnsignedDot {
    static constexpr int kRun = 32767 / (2 * 127 * kMaxCode);
    using Weight = Bytes;
    __m256i words;
    __m256i ints;

    [[gnu::always_inline]] static Weight Prepare(Bytes w) { return w; }
    [[gnu::always_inline]] void Start() {}
    // Adds the products of four columns: those of number kStep of kSteps.
    template <int kStep, int kSteps>
    [[gnu::always_inline]] void Add(Weight w, Bytes x) {
      AddPairs<kStep, kSteps>(_mm256_maddubs_epi16(w.v, x.v));
    }
    // The same of products that are added in pairs already.
    template <int kStep, int kSteps>
    [[gnu::always_inline]] void AddPairs(__m256i products) {
      words = kStep % kRun == 0 ? products : _mm256_add_epi16(words, products);
      KeepInRegister(words);
      if constexpr (kStep % kRun == kRun - 1 || kStep == kSteps - 1) {
        const __m256i wide = _mm256_madd_epi16(words, _mm256_set1_epi16(1));
        ints = kStep < kRun ? wide : _mm256_add_epi32(ints, wide);
      }
    }
    [[gnu::always_inline]] Ints Total() const { return {ints}; }
    [[gnu::always_inline]] Ints TotalPlus(Ints a) const { return {_mm256_add_epi32(ints, a.v)}; }
  };

  // The same of signed bytes, -128 included: |w| * (x with the sign of w). Two products are at most 2 * 128 * 127 =
  // 32512, so each result of vpmaddubsw is widened at once. (Products of 16-bit operands, and of the halves of a byte,
  // measure the same on Zen 3: all three take four operations for four columns.)
  struct ByteDot {
    struct Weight {
      __m256i signs;
      __m256i magnitudes;
    };
    __m256i ints;

    [[gnu::always_inline]] static Weight Prepare(Bytes w) { return {w.v, _mm256_abs_epi8(w.v)}; }
    [[gnu::always_inline]] void Start() {}
    template <int kStep, int kSteps>
    [[gnu::always_inline]] void Add(Weight w, Bytes x) {
      const __m256i products = _mm256_maddubs_epi16(w.magnitudes, _mm256_sign_epi8(x.v, w.signs));
      const __m256i wide = _mm256_madd_epi16(products, _mm256_set1_epi16(1));
      ints = kStep == 0 ? wide : _mm256_add_epi32(ints, wide);
      KeepInRegister(ints);
    }
    [[gnu::always_inline]] Ints Total() const { return {ints}; }
  };

 private:
  // Without this gcc makes a tree out of a chain of additions, and has to spill its leaves.
  [[gnu::always_inline]] static void KeepInRegister(__m256i& a) { asm("" : "+x"(a)); }
};

}  // namespace adit::kernels::avx2

#endif  // ADIT_KERNELS_AVX2_VEC_Q8_H_
