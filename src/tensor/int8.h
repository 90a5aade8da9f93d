#ifndef ADIT_TENSOR_INT8_H_
#define ADIT_TENSOR_INT8_H_

#include <cstdint>

namespace adit {

// 32 elements in 36 bytes, 9 bits each: a scale of single precision and signed 8-bit values.
//   x[i] = d * q[i]
//
//   byte  0..3   d, binary32
//   byte  4 + i  q[i]
//
// What checkpoints of 8-bit whole numbers hold, with a scale for each row or group of columns, one block for each 32
// columns. Of this project: no file has it.
struct [[gnu::packed]] BlockInt8 {
  float d;
  int8_t qs[32];
};
static_assert(sizeof(BlockInt8) == 36);

}  // namespace adit

#endif  // ADIT_TENSOR_INT8_H_
