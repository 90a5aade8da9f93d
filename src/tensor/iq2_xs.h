#ifndef ADIT_TENSOR_IQ2_XS_H_
#define ADIT_TENSOR_IQ2_XS_H_

#include <cstdint>

namespace adit {

// 256 elements in 74 bytes, 2.3125 bits each: an index of nine bits stands for the magnitudes of eight elements, and
// seven bits for their signs. Sixteen elements have a 4-bit scale.
//   x[i] = d * (scale[i / 16] + 0.5) / 4 * sign[i] * grid[index[i / 8]][i % 8]
//
//   byte  0..1         d, binary16
//   byte  2 + 2j..     16 bits, little-endian                                             j = 0..31
//     bits 8..0: index[j] into kIQ2XSGrid   bits 15..9: its signs, as EvenSigns (iq_grids.h) has them
//   byte 66 + g        bits 3..0: scale[2g]   bits 7..4: scale[2g + 1]                    g = 0..7
//
// Defined by ggml as block_iq2_xs.
struct [[gnu::packed]] BlockIQ2XS {
  uint16_t d;
  uint16_t qs[32];
  uint8_t scales[8];
};
static_assert(sizeof(BlockIQ2XS) == 74);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ2_XS_H_
