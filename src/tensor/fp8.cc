#include "tensor/fp8.h"

#include <cmath>
#include <limits>

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

float E4M3ToFloat(uint8_t bits) {
  const int exponent = (bits >> 3) & 15;
  const int mantissa = bits & 7;
  float magnitude = 0.0f;
  if ((bits & 0x7f) == 0x7f) {
    magnitude = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(mantissa), -9);
  } else {
    magnitude = std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  }
  return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

uint8_t FloatToE4M3(float value) { return RoundToE4M3(value); }

float E5M2ToFloat(uint8_t bits) { return HalfToFloat(static_cast<uint16_t>(bits << 8)); }

uint8_t FloatToE5M2(float value) { return RoundToFp8<2, 15>(value, kLargestE5M2, 0x7b); }

void DecodeFp8(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockFp8, 32>(blocks, out, num_elements, [](const BlockFp8& block, float* x) {
    for (int i = 0; i < 32; ++i) {
      const bool is_last = (block.qs[i] & 0x7f) == 0x7f;
      const float value =
          is_last ? std::copysign(480.0f, (block.qs[i] & 0x80) != 0 ? -1.0f : 1.0f) : E4M3ToFloat(block.qs[i]);
      x[i] = block.d * value;
    }
  });
}

}  // namespace adit
