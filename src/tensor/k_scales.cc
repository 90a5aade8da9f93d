#include "tensor/k_scales.h"

namespace adit {

void UnpackKScales(const uint8_t packed[12], KScale out[8]) noexcept {
  for (int g = 0; g < 4; ++g) {
    const uint8_t scale_byte = packed[g];
    const uint8_t min_byte = packed[4 + g];
    const uint8_t low_byte = packed[8 + g];
    out[g] = {static_cast<uint8_t>(scale_byte & 63), static_cast<uint8_t>(min_byte & 63)};
    out[g + 4] = {static_cast<uint8_t>((low_byte & 15) | (scale_byte >> 6 << 4)),
                  static_cast<uint8_t>((low_byte >> 4) | (min_byte >> 6 << 4))};
  }
}

void UnpackQ3KScales(const uint8_t packed[12], int8_t out[16]) noexcept {
  for (int g = 0; g < 16; ++g) {
    const int low = (packed[g % 8] >> (4 * (g / 8))) & 15;
    const int high = (packed[8 + g % 4] >> (2 * (g / 4))) & 3;
    out[g] = static_cast<int8_t>((low | (high << 4)) - 32);
  }
}

}  // namespace adit
