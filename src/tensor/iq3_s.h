#ifndef ADIT_TENSOR_IQ3_S_H_
#define ADIT_TENSOR_IQ3_S_H_

#include <cstdint>

namespace adit {

// 256 elements in 110 bytes, 3.4375 bits each: an index of nine bits stands for the magnitudes of four elements. Groups
// of 32 elements have a 4-bit scale.
//   x[i] = d * (2 * scale[i / 32] + 1) * sign[i] * grid[index[i / 4]][i % 4]
//
//   byte   0..1      d, binary16
//   byte   2 + j     bits 7..0 of index[j] into kIQ3SGrid                                  j = 0..63
//   byte  66 + g     bit b: bit 8 of index[8g + b]                                         g = 0..7, b = 0..7
//   byte  74 + j     bit b: whether element 8j + b is negative                             j = 0..31
//   byte 106 + g     bits 3..0: scale[2g]   bits 7..4: scale[2g + 1]                       g = 0..3
//
// Defined by ggml as block_iq3_s.
struct [[gnu::packed]] BlockIQ3S {
  uint16_t d;
  uint8_t qs[64];
  uint8_t qh[8];
  uint8_t signs[32];
  uint8_t scales[4];
};
static_assert(sizeof(BlockIQ3S) == 110);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ3_S_H_
