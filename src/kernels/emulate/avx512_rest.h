#ifndef ADIT_KERNELS_EMULATE_AVX512_REST_H_
#define ADIT_KERNELS_EMULATE_AVX512_REST_H_

#include <bit>
#include <cmath>
#include <cstdint>

// Intrinsics of AVX-512 that SIMDe 0.7 lacks, lane by lane as the instruction set reference defines them. Included by
// emulate/immintrin.h alone, after SIMDe.
namespace adit::kernels::emulate {

// A vector as an array of T.
template <typename T, typename Vector>
struct Lanes {
  static constexpr int kCount = sizeof(Vector) / sizeof(T);
  T lane[kCount];

  static Lanes Of(const Vector& vector) {
    Lanes lanes;
    __builtin_memcpy(&lanes, &vector, sizeof(vector));
    return lanes;
  }
  Vector Whole() const {
    Vector vector;
    __builtin_memcpy(&vector, this, sizeof(vector));
    return vector;
  }
};

// Lane by lane from lanes of From to lanes of To; lanes of the result without a source are zero.
template <typename To, typename ToVector, typename From, typename FromVector, typename Function>
inline ToVector Map(const FromVector& a, Function function) {
  const auto from = Lanes<From, FromVector>::Of(a);
  Lanes<To, ToVector> to = {};
  for (int i = 0; i < to.kCount && i < from.kCount; ++i) to.lane[i] = static_cast<To>(function(from.lane[i]));
  return to.Whole();
}
template <typename To, typename ToVector, typename From, typename FromVector>
inline ToVector Convert(const FromVector& a) {
  return Map<To, ToVector, From>(a, [](From x) { return x; });
}

template <typename T, typename Vector, typename Mask>
inline Vector MaskedLoad(Mask mask, const void* p) {
  Lanes<T, Vector> lanes = {};
  for (int i = 0; i < lanes.kCount; ++i) {
    if ((mask >> i & 1) != 0) __builtin_memcpy(&lanes.lane[i], static_cast<const T*>(p) + i, sizeof(T));
  }
  return lanes.Whole();
}
template <typename T, typename Vector, typename Mask>
inline void MaskedStore(void* p, Mask mask, const Vector& a) {
  const auto lanes = Lanes<T, Vector>::Of(a);
  for (int i = 0; i < lanes.kCount; ++i) {
    if ((mask >> i & 1) != 0) __builtin_memcpy(static_cast<T*>(p) + i, &lanes.lane[i], sizeof(T));
  }
}

// Lane i of the result is lane index(i) of a.
template <typename T, typename Vector, typename Index>
inline Vector Permute(const Vector& a, Index index) {
  const auto from = Lanes<T, Vector>::Of(a);
  Lanes<T, Vector> to;
  for (int i = 0; i < to.kCount; ++i) to.lane[i] = from.lane[index(i)];
  return to.Whole();
}

inline __m512 JoinHalves(__m256 low, __m256 high) {
  Lanes<__m256, __m512> halves = {{low, high}};
  return halves.Whole();
}
inline __m256 Half(const __m512& a, int which) { return Lanes<__m256, __m512>::Of(a).lane[which]; }

inline __m512 CvtPh(__m256i a) {
  return JoinHalves(_mm256_cvtph_ps(_mm256_castsi256_si128(a)), _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1)));
}
inline __m256i CvtPsToHalf(const __m512& a) {
  return _mm256_setr_m128i(_mm256_cvtps_ph(Half(a, 0), _MM_FROUND_TO_NEAREST_INT),
                           _mm256_cvtps_ph(Half(a, 1), _MM_FROUND_TO_NEAREST_INT));
}
inline __m512i CvtPsToI32(const __m512& a) {
  Lanes<__m256i, __m512i> halves = {{_mm256_cvtps_epi32(Half(a, 0)), _mm256_cvtps_epi32(Half(a, 1))}};
  return halves.Whole();
}

// vpdpbusd: to each lane of `sum`, its four unsigned bytes of a times the signed bytes of b. A function of its own,
// since one register tile of a matrix product calls it 200 times.
[[gnu::noinline]] inline __m512i DpBusd(const __m512i& sum, const __m512i& a, const __m512i& b) {
  auto result = Lanes<__m256i, __m512i>::Of(sum);
  const auto codes = Lanes<__m256i, __m512i>::Of(a);
  const auto factors = Lanes<__m256i, __m512i>::Of(b);
  for (int i = 0; i < 2; ++i) {
    const __m256i even = _mm256_and_si256(codes.lane[i], _mm256_set1_epi16(0xff));
    const __m256i odd = _mm256_srli_epi16(codes.lane[i], 8);
    const __m256i even_factors = _mm256_srai_epi16(_mm256_slli_epi16(factors.lane[i], 8), 8);
    const __m256i odd_factors = _mm256_srai_epi16(factors.lane[i], 8);
    const __m256i products =
        _mm256_add_epi32(_mm256_madd_epi16(even, even_factors), _mm256_madd_epi16(odd, odd_factors));
    result.lane[i] = _mm256_add_epi32(result.lane[i], products);
  }
  return result.Whole();
}

// The 32 bits at kScale bytes for each index from p on.
template <int kScale>
inline __m512i Gather(const __m512i& index, const void* p) {
  return Map<int32_t, __m512i, int32_t>(index, [p](int32_t i) {
    int32_t word;
    __builtin_memcpy(&word, static_cast<const char*>(p) + int64_t{i} * kScale, sizeof(word));
    return word;
  });
}

// a * 2^floor(b), rounded once.
inline __m512 ScaleF(const __m512& a, const __m512& b) {
  const auto mantissa = Lanes<float, __m512>::Of(a);
  const auto exponent = Lanes<float, __m512>::Of(b);
  Lanes<float, __m512> result;
  for (int i = 0; i < result.kCount; ++i) {
    const float n = exponent.lane[i];
    const bool in_range = n > -1000.0f && n < 1000.0f;
    result.lane[i] = in_range ? __builtin_ldexpf(mantissa.lane[i], static_cast<int>(std::floor(n)))
                              : mantissa.lane[i] * (n < 0 ? 0.0f : n);
  }
  return result.Whole();
}

// vdpbf16ps: to each lane of `sum`, the product of the odd elements, then that of the even ones.
inline __m512 DpBf16(const __m512& sum, const __m512bh& a, const __m512bh& b) {
  auto result = Lanes<float, __m512>::Of(sum);
  const auto x = Lanes<uint32_t, __m512bh>::Of(a);
  const auto y = Lanes<uint32_t, __m512bh>::Of(b);
  const auto number = [](uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    return std::fpclassify(value) == FP_SUBNORMAL ? 0.0f : value;
  };
  for (int i = 0; i < result.kCount; ++i) {
    result.lane[i] += number(x.lane[i] & 0xffff0000u) * number(y.lane[i] & 0xffff0000u);
    result.lane[i] += number(x.lane[i] << 16) * number(y.lane[i] << 16);
  }
  return result.Whole();
}

// vcvtne2ps2bf16: the lanes of `low`, then those of `high`, rounded to nearest even.
inline __m512bh CvtNe2PsPbh(const __m512& high, const __m512& low) {
  Lanes<uint16_t, __m512bh> result;
  for (int i = 0; i < result.kCount; ++i) {
    const auto lanes = Lanes<float, __m512>::Of(i < 16 ? low : high);
    const float value = lanes.lane[i % 16];
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = value != value ? bits | 0x400000u : bits + 0x7fffu + (bits >> 16 & 1);
    result.lane[i] =
        static_cast<uint16_t>(std::fpclassify(value) == FP_SUBNORMAL ? bits >> 16 & 0x8000u : rounded >> 16);
  }
  return result.Whole();
}

inline __m512 FmAddSub(const __m512& a, const __m512& b, const __m512& c) {
  return JoinHalves(_mm256_fmaddsub_ps(Half(a, 0), Half(b, 0), Half(c, 0)),
                    _mm256_fmaddsub_ps(Half(a, 1), Half(b, 1), Half(c, 1)));
}

}  // namespace adit::kernels::emulate

// The names by which the sources of avx512/ call them.
#define ADIT_EMULATE_ ::adit::kernels::emulate

#undef _mm512_maskz_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm256_maskz_loadu_epi16
#undef _mm256_mask_storeu_epi16
#define _mm512_maskz_loadu_ps(k, p) (ADIT_EMULATE_::MaskedLoad<float, __m512>(k, p))
#define _mm512_mask_storeu_ps(p, k, a) (ADIT_EMULATE_::MaskedStore<float>(p, k, a))
#define _mm256_maskz_loadu_epi16(k, p) (ADIT_EMULATE_::MaskedLoad<int16_t, __m256i>(k, p))
#define _mm256_mask_storeu_epi16(p, k, a) (ADIT_EMULATE_::MaskedStore<int16_t>(p, k, a))

#undef _mm512_cvtph_ps
#undef _mm512_cvtps_ph
#undef _mm512_cvtps_epi32
#undef _mm512_cvtepi32_ps
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtepi8_epi32
#undef _mm512_cvtepi32_epi16
#undef _mm512_cvtepi32_epi8
#define _mm512_cvtph_ps(a) (ADIT_EMULATE_::CvtPh(a))
// Rounding to nearest even alone.
#define _mm512_cvtps_ph(a, rounding) (static_cast<void>(rounding), ADIT_EMULATE_::CvtPsToHalf(a))
#define _mm512_cvtps_epi32(a) (ADIT_EMULATE_::CvtPsToI32(a))
#define _mm512_cvtepi32_ps(a) (ADIT_EMULATE_::Convert<float, __m512, int32_t>(a))
#define _mm512_cvtepu16_epi32(a) (ADIT_EMULATE_::Convert<int32_t, __m512i, uint16_t>(a))
#define _mm512_cvtepu8_epi32(a) (ADIT_EMULATE_::Convert<int32_t, __m512i, uint8_t>(a))
#define _mm512_cvtepi8_epi32(a) (ADIT_EMULATE_::Convert<int32_t, __m512i, int8_t>(a))
#define _mm512_cvtepi32_epi16(a) (ADIT_EMULATE_::Convert<int16_t, __m256i, int32_t>(a))
#define _mm512_cvtepi32_epi8(a) (ADIT_EMULATE_::Convert<int8_t, __m128i, int32_t>(a))

#undef _mm512_i32gather_epi32
#define _mm512_i32gather_epi32(index, p, scale) (ADIT_EMULATE_::Gather<scale>(index, p))

#undef _mm512_dpbusd_epi32
#define _mm512_dpbusd_epi32(sum, a, b) (ADIT_EMULATE_::DpBusd(sum, a, b))

#undef _mm512_dpbf16_ps
#undef _mm512_cvtne2ps_pbh
#define _mm512_dpbf16_ps(sum, a, b) (ADIT_EMULATE_::DpBf16(sum, a, b))
#define _mm512_cvtne2ps_pbh(high, low) (ADIT_EMULATE_::CvtNe2PsPbh(high, low))

#undef _mm512_extractf32x8_ps
#undef _mm512_permute_ps
#undef _mm512_scalef_ps
#undef _mm512_fmaddsub_ps
#define _mm512_extractf32x8_ps(a, which) (ADIT_EMULATE_::Half(a, which))
#define _mm512_permute_ps(a, control) \
  (ADIT_EMULATE_::Permute<float>(a, [](int i) { return (i & ~3) + ((control) >> (2 * (i & 3)) & 3); }))
#define _mm512_scalef_ps(a, b) (ADIT_EMULATE_::ScaleF(a, b))
#define _mm512_fmaddsub_ps(a, b, c) (ADIT_EMULATE_::FmAddSub(a, b, c))

#endif  // ADIT_KERNELS_EMULATE_AVX512_REST_H_
