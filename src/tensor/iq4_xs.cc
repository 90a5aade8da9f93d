#include "tensor/iq4_xs.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq4_nl.h"

namespace adit {

void DecodeIQ4XS(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ4XS, 256>(blocks, out, num_elements, [](const BlockIQ4XS& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int g = 0; g < 8; ++g) {
      const int low = (block.scales_l[g / 2] >> (4 * (g % 2))) & 15;
      const int high = (block.scales_h >> (2 * g)) & 3;
      const float scale = d * static_cast<float>((low | (high << 4)) - 32);
      const uint8_t* qs = block.qs + 16 * g;
      for (int j = 0; j < 16; ++j) {
        x[32 * g + j] = scale * static_cast<float>(kIQ4NLValues[qs[j] & 15]);
        x[32 * g + j + 16] = scale * static_cast<float>(kIQ4NLValues[qs[j] >> 4]);
      }
    }
  });
}

}  // namespace adit
