#include "tensor/q4_k.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/k_scales.h"

namespace adit {

void DecodeQ4K(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ4K, 256>(blocks, out, num_elements, [](const BlockQ4K& block, float* x) {
    const float d = HalfToFloat(block.d);
    const float dmin = HalfToFloat(block.dmin);
    KScale groups[8];
    UnpackKScales(block.scales, groups);
    for (int g = 0; g < 8; ++g) {
      const float scale = d * static_cast<float>(groups[g].scale);
      const float min = dmin * static_cast<float>(groups[g].min);
      const uint8_t* qs = block.qs + 32 * (g / 2);
      for (int j = 0; j < 32; ++j) {
        const int q = (qs[j] >> (4 * (g % 2))) & 15;
        x[32 * g + j] = scale * static_cast<float>(q) - min;
      }
    }
  });
}

}  // namespace adit
