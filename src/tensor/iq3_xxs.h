#ifndef ADIT_TENSOR_IQ3_XXS_H_
#define ADIT_TENSOR_IQ3_XXS_H_

#include <cstdint>

namespace adit {

// 256 elements in 98 bytes, 3.0625 bits each: an index stands for the magnitudes of four elements, and seven bits for
// the signs of eight. Groups of 32 elements have a 4-bit scale.
//   x[i] = d * (scale[i / 32] + 0.5) / 2 * sign[i] * grid[index[i / 4]][i % 4]
//
//   byte  0..1        d, binary16
//   byte  2 + j       index[j] into kIQ3XXSGrid                                            j = 0..63
//   byte 66 + 4g..    32 bits, little-endian                                               g = 0..7
//     bits 7j + 6..7j: signs of index[8g + 2j] and the next, as EvenSigns (iq_grids.h) has them, j = 0..3
//     bits 31..28: scale[g]
//
// Defined by ggml as block_iq3_xxs.
struct [[gnu::packed]] BlockIQ3XXS {
  uint16_t d;
  uint8_t qs[64];
  uint32_t signs[8];
};
static_assert(sizeof(BlockIQ3XXS) == 98);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ3_XXS_H_
