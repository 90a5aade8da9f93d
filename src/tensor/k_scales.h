#ifndef ADIT_TENSOR_K_SCALES_H_
#define ADIT_TENSOR_K_SCALES_H_

#include <cstdint>

namespace adit {

// Scale and minimum of one group of 32 elements of Q4_K and Q5_K, 0..63 each.
struct KScale {
  uint8_t scale;
  uint8_t min;
};

// The eight pairs of a Q4_K or Q5_K block from its twelve bytes:
//   byte 0 + g   bits 5..0: scale[g]                   bits 7..6: high bits of scale[g + 4]      g = 0..3
//   byte 4 + g   bits 5..0: min[g]                     bits 7..6: high bits of min[g + 4]
//   byte 8 + g   bits 3..0: low bits of scale[g + 4]   bits 7..4: low bits of min[g + 4]
void UnpackKScales(const uint8_t packed[12], KScale out[8]) noexcept;

// The sixteen scales of a Q3_K block from its twelve bytes, laid out as q3_k.h says, with 32 taken off: -32..31.
void UnpackQ3KScales(const uint8_t packed[12], int8_t out[16]) noexcept;

// The other way. Scales and mins, eight each, are in 0..63; those of Q3_K in -32..31.
void PackKScales(const uint8_t scales[8], const uint8_t mins[8], uint8_t packed[12]) noexcept;
void PackQ3KScales(const int8_t scales[16], uint8_t packed[12]) noexcept;

}  // namespace adit

#endif  // ADIT_TENSOR_K_SCALES_H_
