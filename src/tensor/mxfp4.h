#ifndef ADIT_TENSOR_MXFP4_H_
#define ADIT_TENSOR_MXFP4_H_

#include <cstdint>

namespace adit {

// 32 elements in 17 bytes, 4.25 bits each: floats of four bits (E2M1) with a power of two.
//   x[i] = 2^(e - 128) * kFP4Values[q[i]]
//
//   byte 0        e
//   byte 1 + j    bits 3..0: q[j]   bits 7..4: q[j + 16]      j = 0..15
//
// Defined by the OCP Microscaling Formats (MX) specification 1.0, and by ggml as block_mxfp4.
struct BlockMXFP4 {
  uint8_t e;
  uint8_t qs[16];
};
static_assert(sizeof(BlockMXFP4) == 17);

// Twice what the sixteen floats of four bits are; index 8 stands for minus zero, whose sign is dropped.
inline constexpr int8_t kFP4Values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

}  // namespace adit

#endif  // ADIT_TENSOR_MXFP4_H_
