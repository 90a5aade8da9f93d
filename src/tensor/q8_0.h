#ifndef ADIT_TENSOR_Q8_0_H_
#define ADIT_TENSOR_Q8_0_H_

#include <cstdint>

namespace adit {

// 32 elements in 34 bytes, 8.5 bits each: one scale and signed bytes.
//   x[i] = d * q[i]
//
//   byte  0..1   d, binary16
//   byte  2 + i  q[i], two's complement      i = 0..31
//
// Defined by ggml as block_q8_0.
struct [[gnu::packed]] BlockQ8_0 {
  uint16_t d;
  int8_t qs[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

}  // namespace adit

#endif  // ADIT_TENSOR_Q8_0_H_
