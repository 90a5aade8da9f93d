#ifndef ADIT_TENSOR_TQ2_0_H_
#define ADIT_TENSOR_TQ2_0_H_

#include <cstdint>

namespace adit {

// 256 elements in 66 bytes, 2.0625 bits each: values -1, 0 and 1 in two bits.
//   x[i] = d * (q[i] - 1)
//
//   byte  0 + j    q of four elements 32 apart                      j = 0..63
//     bits 1..0: q[e]   bits 3..2: q[e + 32]   bits 5..4: q[e + 64]   bits 7..6: q[e + 96]
//     where e = 128 * (j / 32) + j % 32
//   byte 64..65    d, binary16
//
// Defined by ggml as block_tq2_0.
struct [[gnu::packed]] BlockTQ2_0 {
  uint8_t qs[64];
  uint16_t d;
};
static_assert(sizeof(BlockTQ2_0) == 66);

}  // namespace adit

#endif  // ADIT_TENSOR_TQ2_0_H_
