#ifndef ADIT_TENSOR_IQ1_M_H_
#define ADIT_TENSOR_IQ1_M_H_

#include <cstdint>

namespace adit {

// 256 elements in 56 bytes, 1.75 bits each: as IQ1_S, but with a scale for each 16 elements and a shift for each eight.
//   x[i] = d * (2 * scale[i / 16] + 1) * (grid[index[i / 8]][i % 8] - 1 + shift[i / 8])
//
//   byte  0 + j     bits 7..0 of index[j] into kIQ1SGrid                                   j = 0..31
//   byte 32 + k     bits 2..0: bits 10..8 of index[2k]       bit 3: shift[2k] is -1/8, not 1/8       k = 0..15
//                   bits 6..4: bits 10..8 of index[2k + 1]   bit 7: the same of shift[2k + 1]
//   byte 48 + 2n..  16 bits, little-endian                                                 n = 0..3
//     bits 3i + 2..3i: scale[4n + i], i = 0..3   bits 15..12: bits 4n + 3..4n of d, binary16
//
// Defined by ggml as block_iq1_m.
struct [[gnu::packed]] BlockIQ1M {
  uint8_t qs[32];
  uint8_t qh[16];
  uint16_t scales[4];
};
static_assert(sizeof(BlockIQ1M) == 56);

// The bits of d.
[[gnu::always_inline]] constexpr uint16_t ScaleBitsOf(const BlockIQ1M& block) {
  return static_cast<uint16_t>(block.scales[0] >> 12 | (block.scales[1] >> 12) << 4 | (block.scales[2] >> 12) << 8 |
                               (block.scales[3] >> 12) << 12);
}

}  // namespace adit

#endif  // ADIT_TENSOR_IQ1_M_H_
