#ifndef ADIT_TENSOR_TQ1_0_H_
#define ADIT_TENSOR_TQ1_0_H_

#include <cstdint>

namespace adit {

// 256 elements in 54 bytes, 1.6875 bits each: values -1, 0 and 1, five in a byte as the digits of a number to base 3,
// which is stored as the upper byte of its product with 256 / 243, rounded up.
//   x[i] = d * (t[i] - 1)
//
//   byte  0 + j    t[j], t[j + 32], t[j + 64], t[j + 96], t[j + 128]                        j = 0..31
//   byte 32 + j    t[160 + j], t[176 + j], t[192 + j], t[208 + j], t[224 + j]               j = 0..15
//   byte 48 + j    t[240 + j], t[244 + j], t[248 + j], t[252 + j]; the fifth digit is 0     j = 0..3
//     where digit n of byte b, the first the most significant, is TernaryDigit(b, n)
//   byte 52..53    d, binary16
//
// Defined by ggml as block_tq1_0.
struct [[gnu::packed]] BlockTQ1_0 {
  uint8_t qs[48];
  uint8_t qh[4];
  uint16_t d;
};
static_assert(sizeof(BlockTQ1_0) == 54);

// Digit n = 0..4 of a byte: the product with 3^n, of which one byte is kept, brings it to the front.
[[gnu::always_inline]] constexpr int TernaryDigit(uint8_t byte, int n) {
  constexpr int kPowers[] = {1, 3, 9, 27, 81};
  return static_cast<uint8_t>(byte * kPowers[n]) * 3 >> 8;
}

// Which byte holds t[i], and as which digit.
struct TernaryPlace {
  int byte;
  int digit;
};
[[gnu::always_inline]] constexpr TernaryPlace TernaryPlaceOf(int i) {
  if (i < 160) return {i % 32, i / 32};
  if (i < 240) return {32 + (i - 160) % 16, (i - 160) / 16};
  return {48 + (i - 240) % 4, (i - 240) / 4};
}

}  // namespace adit

#endif  // ADIT_TENSOR_TQ1_0_H_
