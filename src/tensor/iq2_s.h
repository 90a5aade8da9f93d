#ifndef ADIT_TENSOR_IQ2_S_H_
#define ADIT_TENSOR_IQ2_S_H_

#include <cstdint>

namespace adit {

// 256 elements in 82 bytes, 2.5625 bits each: an index of ten bits stands for the magnitudes of eight elements, and a
// byte holds their signs. Sixteen elements have a 4-bit scale.
//   x[i] = d * (scale[i / 16] + 0.5) / 4 * sign[i] * grid[index[i / 8]][i % 8]
//
//   byte  0..1      d, binary16
//   byte  2 + j     bits 7..0 of index[j] into kIQ2SGrid                                  j = 0..31
//   byte 34 + j     bit b: whether element 8j + b is negative                             j = 0..31
//   byte 66 + g     bits 2i + 1..2i: bits 9..8 of index[4g + i]                           g = 0..7, i = 0..3
//   byte 74 + g     bits 3..0: scale[2g]   bits 7..4: scale[2g + 1]                       g = 0..7
//
// Defined by ggml as block_iq2_s.
struct [[gnu::packed]] BlockIQ2S {
  uint16_t d;
  uint8_t qs[32];
  uint8_t signs[32];
  uint8_t qh[8];
  uint8_t scales[8];
};
static_assert(sizeof(BlockIQ2S) == 82);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ2_S_H_
