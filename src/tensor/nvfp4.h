#ifndef ADIT_TENSOR_NVFP4_H_
#define ADIT_TENSOR_NVFP4_H_

#include <cstdint>

namespace adit {

// 64 elements in 36 bytes, 4.5 bits each: floats of four bits (E2M1), of which sixteen share a float of eight (E4M3).
//   x[i] = FP8ScaleToFloat(scale[i / 16]) * kFP4Values[q[i]]      kFP4Values of mxfp4.h
//
//   byte 0 + g    scale[g]                                                        g = 0..3
//   byte 4 + j    bits 3..0: q[e]   bits 7..4: q[e + 8]   where e = 16 * (j / 8) + j % 8      j = 0..31
//
// Defined by ggml as block_nvfp4.
struct BlockNVFP4 {
  uint8_t scales[4];
  uint8_t qs[32];
};
static_assert(sizeof(BlockNVFP4) == 36);

}  // namespace adit

#endif  // ADIT_TENSOR_NVFP4_H_
