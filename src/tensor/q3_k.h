#ifndef ADIT_TENSOR_Q3_K_H_
#define ADIT_TENSOR_Q3_K_H_

#include <cstdint>

namespace adit {

// 256 elements in 110 bytes, 3.4375 bits each: sixteen groups of 16 elements, each with a signed 6-bit scale.
//   x[i] = d * (scale[i / 16] - 32) * (q[i] - 4)      q of three bits, scale of six
//
//   byte   0 + j   bit b: bit 2 of q[32 * b + j]               j = 0..31, b = 0..7
//   byte  32 + j   bits 1..0 of q of four elements 32 apart    j = 0..63
//     bits 1..0: q[e]   bits 3..2: q[e + 32]   bits 5..4: q[e + 64]   bits 7..6: q[e + 96]
//     where e = 128 * (j / 32) + j % 32
//   byte  96 + g   bits 3..0: low bits of scale[g]   bits 7..4: low bits of scale[g + 8]      g = 0..7
//   byte 104 + h   bits 1..0: high bits of scale[h]  bits 3..2: of scale[h + 4]
//                  bits 5..4: of scale[h + 8]        bits 7..6: of scale[h + 12]              h = 0..3
//   byte 108..109  d, binary16
//
// Defined by ggml as block_q3_K.
struct [[gnu::packed]] BlockQ3K {
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  uint16_t d;
};
static_assert(sizeof(BlockQ3K) == 110);

}  // namespace adit

#endif  // ADIT_TENSOR_Q3_K_H_
