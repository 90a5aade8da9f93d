#ifndef ADIT_TENSOR_Q5_0_H_
#define ADIT_TENSOR_Q5_0_H_

#include <cstdint>

namespace adit {

// 32 elements in 22 bytes, 5.5 bits each: one scale and signed 5-bit values with an offset of 16.
//   x[i] = d * (q[i] - 16)
//
//   byte  0..1   d, binary16
//   byte  2..5   qh, little-endian: bit i is bit 4 of q[i]   i = 0..31
//   byte  6 + j  bits 3..0: low bits of q[j]   bits 7..4: low bits of q[j + 16]      j = 0..15
//
// Defined by ggml as block_q5_0.
struct [[gnu::packed]] BlockQ5_0 {
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

}  // namespace adit

#endif  // ADIT_TENSOR_Q5_0_H_
