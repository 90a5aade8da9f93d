#ifndef ADIT_TENSOR_Q4_K_H_
#define ADIT_TENSOR_Q4_K_H_

#include <cstdint>

namespace adit {

// 256 elements in 144 bytes, 4.5 bits each: eight groups of 32 elements, each with a 6-bit scale and a 6-bit minimum.
//   x[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32]
//
//   byte  0..1    d, binary16
//   byte  2..3    dmin, binary16
//   byte  4..15   scale and min, packed as k_scales.h says
//   byte 16 + j   bits 3..0: q[e]   bits 7..4: q[e + 32]      j = 0..127
//     where e = 64 * (j / 32) + j % 32
//
// Defined by ggml as block_q4_K.
struct [[gnu::packed]] BlockQ4K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ4K) == 144);

}  // namespace adit

#endif  // ADIT_TENSOR_Q4_K_H_
