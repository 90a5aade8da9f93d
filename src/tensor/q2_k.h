#ifndef ADIT_TENSOR_Q2_K_H_
#define ADIT_TENSOR_Q2_K_H_

#include <cstdint>

namespace adit {

// 256 elements in 84 bytes, 2.625 bits each: sixteen groups of 16 elements, each with a 4-bit scale and a 4-bit minimum
// that two half-precision factors scale again.
//   x[i] = d * scale[i / 16] * q[i] - dmin * min[i / 16]
//
//   byte  0 + g   bits 3..0: scale[g]   bits 7..4: min[g]      g = 0..15
//   byte 16 + j   q of four elements 32 apart                  j = 0..63
//     bits 1..0: q[e]   bits 3..2: q[e + 32]   bits 5..4: q[e + 64]   bits 7..6: q[e + 96]
//     where e = 128 * (j / 32) + j % 32
//   byte 80..81   d, binary16
//   byte 82..83   dmin, binary16
//
// Defined by ggml as block_q2_K.
struct [[gnu::packed]] BlockQ2K {
  uint8_t scales[16];
  uint8_t qs[64];
  uint16_t d;
  uint16_t dmin;
};
static_assert(sizeof(BlockQ2K) == 84);

}  // namespace adit

#endif  // ADIT_TENSOR_Q2_K_H_
