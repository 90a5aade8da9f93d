#include "tensor/q6_k.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeQ6K(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ6K, 256>(blocks, out, num_elements, [](const BlockQ6K& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(block.scales[g]);
      const int half = g / 8;
      const int quarter = g % 8 / 2;
      const uint8_t* ql = block.ql + 64 * half + 16 * (g % 4);
      const uint8_t* qh = block.qh + 32 * half + 16 * (g % 2);
      for (int j = 0; j < 16; ++j) {
        const int low = (ql[j] >> (4 * (quarter / 2))) & 15;
        const int high = (qh[j] >> (2 * quarter)) & 3;
        x[16 * g + j] = scale * static_cast<float>((low | (high << 4)) - 32);
      }
    }
  });
}

}  // namespace adit
