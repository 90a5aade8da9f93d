#ifndef ADIT_TENSOR_IQ4_NL_H_
#define ADIT_TENSOR_IQ4_NL_H_

#include <cstdint>

namespace adit {

// 32 elements in 18 bytes, 4.5 bits each: one scale and 4-bit indices into a fixed table of unevenly spaced values.
//   x[i] = d * kIQ4NLValues[q[i]]
//
//   byte  0..1   d, binary16
//   byte  2 + j  bits 3..0: q[j]   bits 7..4: q[j + 16]      j = 0..15
//
// Defined by ggml as block_iq4_nl.
struct [[gnu::packed]] BlockIQ4NL {
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(BlockIQ4NL) == 18);

// The sixteen values that an index of IQ4_NL and IQ4_XS stands for (kvalues_iq4nl in ggml).
inline constexpr int8_t kIQ4NLValues[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

}  // namespace adit

#endif  // ADIT_TENSOR_IQ4_NL_H_
