#ifndef ADIT_TENSOR_Q4_0_H_
#define ADIT_TENSOR_Q4_0_H_

#include <cstdint>

namespace adit {

// 32 elements in 18 bytes, 4.5 bits each: one half-precision scale and signed 4-bit values with an offset of 8.
//   x[i] = d * (q[i] - 8)
//
//   byte  0..1   d, binary16
//   byte  2 + j  bits 3..0: q[j]   bits 7..4: q[j + 16]      j = 0..15
//
// Defined by ggml as block_q4_0.
struct [[gnu::packed]] BlockQ4_0 {
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

}  // namespace adit

#endif  // ADIT_TENSOR_Q4_0_H_
