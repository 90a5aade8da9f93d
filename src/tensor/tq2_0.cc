#include "tensor/tq2_0.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeTQ2_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockTQ2_0, 256>(blocks, out, num_elements, [](const BlockTQ2_0& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int i = 0; i < 256; ++i) {
      const int q = block.qs[32 * (i / 128) + i % 32] >> (2 * (i / 32 % 4)) & 3;
      x[i] = d * static_cast<float>(q - 1);
    }
  });
}

}  // namespace adit
