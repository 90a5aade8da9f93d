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

void PackKScales(const uint8_t scales[8], const uint8_t mins[8], uint8_t packed[12]) noexcept {
  for (int g = 0; g < 4; ++g) {
    packed[g] = static_cast<uint8_t>(scales[g] | scales[g + 4] >> 4 << 6);
    packed[4 + g] = static_cast<uint8_t>(mins[g] | mins[g + 4] >> 4 << 6);
    packed[8 + g] = static_cast<uint8_t>((scales[g + 4] & 15) | (mins[g + 4] & 15) << 4);
  }
}

void PackQ3KScales(const int8_t scales[16], uint8_t packed[12]) noexcept {
  for (int i = 0; i < 12; ++i) packed[i] = 0;
  for (int g = 0; g < 16; ++g) {
    const int scale = scales[g] + 32;
    packed[g % 8] = static_cast<uint8_t>(packed[g % 8] | (scale & 15) << (4 * (g / 8)));
    packed[8 + g % 4] = static_cast<uint8_t>(packed[8 + g % 4] | (scale >> 4) << (2 * (g / 4)));
  }
}

}  // namespace adit
