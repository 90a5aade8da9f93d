#include "tensor/nvfp4.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/fp4_scales.h"
#include "tensor/mxfp4.h"

namespace adit {

void DecodeNVFP4(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockNVFP4, 64>(blocks, out, num_elements, [](const BlockNVFP4& block, float* x) {
    for (int g = 0; g < 4; ++g, x += 16) {
      const float d = FP8ScaleToFloat(block.scales[g]);
      for (int j = 0; j < 8; ++j) {
        const uint8_t codes = block.qs[8 * g + j];
        x[j] = d * static_cast<float>(kFP4Values[codes & 15]);
        x[j + 8] = d * static_cast<float>(kFP4Values[codes >> 4]);
      }
    }
  });
}

}  // namespace adit
