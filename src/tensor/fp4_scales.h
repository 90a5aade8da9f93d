#ifndef ADIT_TENSOR_FP4_SCALES_H_
#define ADIT_TENSOR_FP4_SCALES_H_

#include <bit>
#include <cstdint>

// The scales of the types of 4-bit floats. Both are half of what the byte stands for, since kFP4Values are twice the
// values.
namespace adit {

// 2^(e - 128), the scale of MXFP4; below e = 2 a subnormal number.
inline float PowerToFloat(uint8_t e) {
  return std::bit_cast<float>(e < 2 ? uint32_t{0x00200000} << e : static_cast<uint32_t>(e - 1) << 23);
}

// Half of an unsigned E4M3, the scale of NVFP4. The NaN of the format, 0x7f, gives 0 and bit 7 is left alone, as in
// ggml: 0xff is 240.
inline float FP8ScaleToFloat(uint8_t byte) {
  if (byte == 0x7f) return 0.0f;
  const int exponent = byte >> 3 & 15;
  const auto mantissa = static_cast<float>(byte & 7);
  if (exponent == 0) return mantissa * 0x1p-10f;
  return (1.0f + mantissa / 8.0f) * std::bit_cast<float>(static_cast<uint32_t>(exponent + 127 - 8) << 23);
}

}  // namespace adit

#endif  // ADIT_TENSOR_FP4_SCALES_H_
