#ifndef ADIT_TENSOR_IQ1_S_H_
#define ADIT_TENSOR_IQ1_S_H_

#include <cstdint>

namespace adit {

// 256 elements in 50 bytes, 1.5625 bits each: an index of eleven bits stands for eight elements of -1, 0 and 1. Groups
// of 32 elements have a 3-bit scale and a shift of an eighth.
//   x[i] = d * (2 * scale[i / 32] + 1) * (grid[index[i / 8]][i % 8] - 1 + shift[i / 32])
//
//   byte  0..1      d, binary16
//   byte  2 + j     bits 7..0 of index[j] into kIQ1SGrid                                   j = 0..31
//   byte 34 + 2g..  16 bits, little-endian                                                 g = 0..7
//     bits 3i + 2..3i: bits 10..8 of index[4g + i], i = 0..3   bits 14..12: scale[g]
//     bit 15: shift[g] is -1/8, not 1/8
//
// Defined by ggml as block_iq1_s.
struct [[gnu::packed]] BlockIQ1S {
  uint16_t d;
  uint8_t qs[32];
  uint16_t qh[8];
};
static_assert(sizeof(BlockIQ1S) == 50);

}  // namespace adit

#endif  // ADIT_TENSOR_IQ1_S_H_
