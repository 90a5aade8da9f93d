#ifndef ADIT_TENSOR_INT4_H_
#define ADIT_TENSOR_INT4_H_

#include <cstdint>

namespace adit {

// 32 elements in 19 bytes, 4.75 bits each: a scale, a whole zero point and unsigned 4-bit values.
//   x[i] = d * (q[i] - zero)
//
//   byte  0..1   d, binary16
//   byte  2      zero, 0..16
//   byte  3 + j  bits 3..0: q[j]   bits 7..4: q[j + 16]      j = 0..15
//
// What the checkpoints of GPTQ, AWQ and compressed-tensors hold in groups of 32 columns or more, one block for each 32
// of them. Of this project: no file has it.
struct [[gnu::packed]] BlockInt4 {
  uint16_t d;
  uint8_t zero;
  uint8_t qs[16];
};
static_assert(sizeof(BlockInt4) == 19);

}  // namespace adit

#endif  // ADIT_TENSOR_INT4_H_
