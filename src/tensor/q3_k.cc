#include "tensor/q3_k.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/k_scales.h"

namespace adit {

void DecodeQ3K(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ3K, 256>(blocks, out, num_elements, [](const BlockQ3K& block, float* x) {
    const float d = HalfToFloat(block.d);
    int8_t scales[16];
    UnpackQ3KScales(block.scales, scales);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(scales[g]);
      const uint8_t* qs = block.qs + 32 * (g / 8) + 16 * (g % 2);
      const uint8_t* hmask = block.hmask + 16 * (g % 2);
      for (int j = 0; j < 16; ++j) {
        const int low = (qs[j] >> (2 * (g % 8 / 2))) & 3;
        const int high = (hmask[j] >> (g / 2)) & 1;
        x[16 * g + j] = scale * static_cast<float>((low | (high << 2)) - 4);
      }
    }
  });
}

}  // namespace adit
