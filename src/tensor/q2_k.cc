#include "tensor/q2_k.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeQ2K(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ2K, 256>(blocks, out, num_elements, [](const BlockQ2K& block, float* x) {
    const float d = HalfToFloat(block.d);
    const float dmin = HalfToFloat(block.dmin);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(block.scales[g] & 15);
      const float min = dmin * static_cast<float>(block.scales[g] >> 4);
      const uint8_t* qs = block.qs + 32 * (g / 8) + 16 * (g % 2);
      for (int j = 0; j < 16; ++j) {
        const int q = (qs[j] >> (2 * (g % 8 / 2))) & 3;
        x[16 * g + j] = scale * static_cast<float>(q) - min;
      }
    }
  });
}

}  // namespace adit
