#ifndef ADIT_TENSOR_Q4_1_H_
#define ADIT_TENSOR_Q4_1_H_

#include <cstdint>

namespace adit {

// 32 elements in 20 bytes, 5 bits each: a scale, a minimum and unsigned 4-bit values.
//   x[i] = d * q[i] + m
//
//   byte  0..1   d, binary16
//   byte  2..3   m, binary16
//   byte  4 + j  bits 3..0: q[j]   bits 7..4: q[j + 16]      j = 0..15
//
// Defined by ggml as block_q4_1.
struct [[gnu::packed]] BlockQ4_1 {
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

}  // namespace adit

#endif  // ADIT_TENSOR_Q4_1_H_
