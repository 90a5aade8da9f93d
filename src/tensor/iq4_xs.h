#ifndef ADIT_TENSOR_IQ4_XS_H_
#define ADIT_TENSOR_IQ4_XS_H_

#include <cstdint>

namespace adit {

// 256 elements in 136 bytes, 4.25 bits each: eight groups of 32 elements, each with a signed 6-bit scale, and 4-bit
// indices into the table of IQ4_NL.
//   x[i] = d * (scale[i / 32] - 32) * kIQ4NLValues[q[i]]
//
//   byte  0..1    d, binary16
//   byte  2..3    scales_h, little-endian: bits 2g + 1..2g are the high bits of scale[g]      g = 0..7
//   byte  4 + k   bits 3..0: low bits of scale[2k]   bits 7..4: low bits of scale[2k + 1]     k = 0..3
//   byte  8 + j   bits 3..0: q[e]   bits 7..4: q[e + 16]                                      j = 0..127
//     where e = 32 * (j / 16) + j % 16
//
// Defined by ggml as block_iq4_xs.
struct [[gnu::packed]] BlockIQ4XS {
  uint16_t d;
  uint16_t scales_h;
  uint8_t scales_l[4];
  uint8_t qs[128];
};
static_assert(sizeof(BlockIQ4XS) == 136);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ4_XS_H_
