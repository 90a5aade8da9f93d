#ifndef ADIT_TENSOR_Q5_1_H_
#define ADIT_TENSOR_Q5_1_H_

#include <cstdint>

namespace adit {

// 32 elements in 24 bytes, 6 bits each: a scale, a minimum and unsigned 5-bit values.
//   x[i] = d * q[i] + m
//
//   byte  0..1   d, binary16
//   byte  2..3   m, binary16
//   byte  4..7   qh, little-endian: bit i is bit 4 of q[i]   i = 0..31
//   byte  8 + j  bits 3..0: low bits of q[j]   bits 7..4: low bits of q[j + 16]      j = 0..15
//
// Defined by ggml as block_q5_1.
struct [[gnu::packed]] BlockQ5_1 {
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

}  // namespace adit

#endif  // ADIT_TENSOR_Q5_1_H_
