#ifndef ADIT_TENSOR_Q5_K_H_
#define ADIT_TENSOR_Q5_K_H_

#include <cstdint>

namespace adit {

// 256 elements in 176 bytes, 5.5 bits each: Q4_K with a fifth bit for each element.
//   x[i] = d * scale[i / 32] * q[i] - dmin * min[i / 32]
//
//   byte  0..1    d, binary16
//   byte  2..3    dmin, binary16
//   byte  4..15   scale and min, packed as k_scales.h says
//   byte 16 + j   bit b: bit 4 of q[32 * b + j]               j = 0..31, b = 0..7
//   byte 48 + j   bits 3..0: low bits of q[e]   bits 7..4: low bits of q[e + 32]      j = 0..127
//     where e = 64 * (j / 32) + j % 32
//
// Defined by ggml as block_q5_K.
struct [[gnu::packed]] BlockQ5K {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};
static_assert(sizeof(BlockQ5K) == 176);

}  // namespace adit

#endif  // ADIT_TENSOR_Q5_K_H_
