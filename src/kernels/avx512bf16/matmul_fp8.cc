#include <immintrin.h>

#include "kernels/avx512bf16/matmul.h"
#include "kernels/avx512bf16/pair_product.h"
#include "kernels/generic/matmul_fp8.h"
#include "kernels/generic/product_functions.h"

namespace adit::kernels::avx512bf16 {

namespace {

// The bits of a BF16 that is the number of E4M3 with the bits `code`, below 128: all are exact.
constexpr uint16_t Bf16Bits(int code) {
  constexpr int kBiases = 127 - 7;
  int exponent = code >> 3;
  int mantissa = code & 7;
  if (exponent == 0) {
    if (mantissa == 0) return 0;
    // A subnormal number gets the one before its point.
    for (exponent = 1; mantissa < 8; --exponent) mantissa *= 2;
  }
  return static_cast<uint16_t>((exponent + kBiases) << 7 | (mantissa & 7) << 4);
}

// The upper and the lower bytes of all.
struct Bf16Bytes {
  alignas(64) uint8_t upper[128];
  alignas(64) uint8_t lower[128];
};
constexpr Bf16Bytes MakeBf16Bytes() {
  Bf16Bytes bytes = {};
  for (int code = 0; code < 128; ++code) {
    bytes.upper[code] = static_cast<uint8_t>(Bf16Bits(code) >> 8);
    bytes.lower[code] = static_cast<uint8_t>(Bf16Bits(code) & 0xff);
  }
  return bytes;
}
constexpr Bf16Bytes kBf16Bytes = MakeBf16Bytes();

}  // namespace

// Numbers of E4M3 become pairs of BF16 by two lookups of their lower seven bits.
struct PairedFp8 {
  using Product = PairProduct;
  static constexpr float kFactor = 1.0f;
  // Interleaving works on 16 bytes at a time: their first half goes to one vector of pairs, their second to the other.
  static constexpr int CodeAt(int row, int col) {
    const int in_vector = row % VecF32::kLanes * 2 + col;
    return in_vector / 8 * 16 + row / VecF32::kLanes * 8 + in_vector % 8;
  }
  [[gnu::always_inline]] static void Load(const uint8_t* codes, PairProduct::Pairs (&weights)[PairShape::kVecs]) {
    const __m512i code = _mm512_loadu_si512(codes);
    const __m512i magnitude = LookUp(kBf16Bytes.upper, code);
    const __m512i upper = _mm512_or_si512(magnitude, _mm512_and_si512(code, _mm512_set1_epi8(static_cast<char>(0x80))));
    const __m512i lower = LookUp(kBf16Bytes.lower, code);
    weights[0] = {reinterpret_cast<__m512bh>(_mm512_unpacklo_epi8(lower, upper))};
    weights[1] = {reinterpret_cast<__m512bh>(_mm512_unpackhi_epi8(lower, upper))};
  }
  [[gnu::always_inline]] static void Store(PairProduct::Stored* p, PairProduct::Pairs weights) {
    _mm512_storeu_si512(p, reinterpret_cast<__m512i>(weights.v));
  }

 private:
  // The highest bit of an index does not count.
  [[gnu::always_inline]] static __m512i LookUp(const uint8_t* table, __m512i index) {
    return _mm512_permutex2var_epi8(_mm512_load_si512(table), index, _mm512_load_si512(table + 64));
  }
};
static_assert(PairShape::kVecs == 2);

template <>
struct Matmul<DType::kFp8> : generic::MatmulFp8<PairShape, PairedFp8> {};

}  // namespace adit::kernels::avx512bf16

namespace adit::kernels::generic {

template struct Product<avx512bf16::Matmul<DType::kFp8>>;

}  // namespace adit::kernels::generic
