#ifndef ADIT_TENSOR_Q6_K_H_
#define ADIT_TENSOR_Q6_K_H_

#include <cstdint>

namespace adit {

// 256 elements in 210 bytes, 6.5625 bits each: sixteen groups of 16 elements, each with a signed 8-bit scale.
//   x[i] = d * scale[i / 16] * (q[i] - 32)      q of six bits
//
//   byte   0 + j   bits 3..0: low bits of q[e]   bits 7..4: low bits of q[e + 64]      j = 0..127
//     where e = 128 * (j / 64) + j % 64
//   byte 128 + j   high bits of four elements 32 apart                                 j = 0..63
//     bits 1..0: q[e]   bits 3..2: q[e + 32]   bits 5..4: q[e + 64]   bits 7..6: q[e + 96]
//     where e = 128 * (j / 32) + j % 32
//   byte 192 + g   scale[g], two's complement                                          g = 0..15
//   byte 208..209  d, binary16
//
// Defined by ggml as block_q6_K.
struct [[gnu::packed]] BlockQ6K {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};
static_assert(sizeof(BlockQ6K) == 210);

}  // namespace adit

#endif  // ADIT_TENSOR_Q6_K_H_
