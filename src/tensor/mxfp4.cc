#include "tensor/mxfp4.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/fp4_scales.h"

namespace adit {

void DecodeMXFP4(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockMXFP4, 32>(blocks, out, num_elements, [](const BlockMXFP4& block, float* x) {
    const float d = PowerToFloat(block.e);
    for (int j = 0; j < 16; ++j) {
      x[j] = d * static_cast<float>(kFP4Values[block.qs[j] & 15]);
      x[j + 16] = d * static_cast<float>(kFP4Values[block.qs[j] >> 4]);
    }
  });
}

}  // namespace adit
