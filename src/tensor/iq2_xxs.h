#ifndef ADIT_TENSOR_IQ2_XXS_H_
#define ADIT_TENSOR_IQ2_XXS_H_

#include <cstdint>

namespace adit {

// 256 elements in 66 bytes, 2.0625 bits each: groups of 32 elements with a 4-bit scale, in which an index stands for
// the magnitudes of eight elements, and seven bits for their signs.
//   x[i] = d * (scale[i / 32] + 0.5) / 4 * sign[i] * grid[index[i / 8]][i % 8]
//
//   byte 0..1          d, binary16
//   byte 2 + 8g + j    index[4g + j] into kIQ2XXSGrid                                    g = 0..7, j = 0..3
//   byte 6 + 8g..      32 bits, little-endian: bits 7j + 6..7j: signs of index[4g + j], as EvenSigns (iq_grids.h) has
//                      them                     bits 31..28: scale[g]
//
// Defined by ggml as block_iq2_xxs.
struct [[gnu::packed]] BlockIQ2XXS {
  uint16_t d;
  struct [[gnu::packed]] {
    uint8_t index[4];
    uint32_t signs;
  } groups[8];
};
static_assert(sizeof(BlockIQ2XXS) == 66);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ2_XXS_H_
