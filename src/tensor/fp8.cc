#include "tensor/fp8.h"

#include <bit>
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

uint8_t FloatToE4M3(float value) {
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint8_t>(sign | 0x7f);
  if (magnitude >= kLargestE4M3) return static_cast<uint8_t>(sign | 0x7e);
  // Below the least normal number the last place is worth 2^-9.
  if (magnitude < 0x1p-6f) return static_cast<uint8_t>(sign | static_cast<int>(std::nearbyint(magnitude * 0x1p9f)));
  // Three bits of the mantissa stay; a carry out of them goes into the exponent.
  const uint32_t bits = std::bit_cast<uint32_t>(magnitude);
  const uint32_t rounded = bits + 0x7ffffu + ((bits >> 20) & 1u);
  return static_cast<uint8_t>(sign | ((rounded >> 20) - (120u << 3)));
}

float E5M2ToFloat(uint8_t bits) { return HalfToFloat(static_cast<uint16_t>(bits << 8)); }

uint8_t FloatToE5M2(float value) {
  const auto sign = static_cast<uint8_t>(std::signbit(value) ? 0x80 : 0);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<uint8_t>(sign | 0x7f);
  if (magnitude >= kLargestE5M2) return static_cast<uint8_t>(sign | 0x7b);
  // As for E4M3: below the least normal number the last place is worth 2^-16; two bits of the mantissa stay.
  if (magnitude < 0x1p-14f) return static_cast<uint8_t>(sign | static_cast<int>(std::nearbyint(magnitude * 0x1p16f)));
  const uint32_t bits = std::bit_cast<uint32_t>(magnitude);
  const uint32_t rounded = bits + 0xfffffu + ((bits >> 21) & 1u);
  return static_cast<uint8_t>(sign | ((rounded >> 21) - (112u << 2)));
}

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
