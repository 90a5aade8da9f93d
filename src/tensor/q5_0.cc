#include "tensor/q5_0.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeQ5_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ5_0, 32>(blocks, out, num_elements, [](const BlockQ5_0& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int i = 0; i < 32; ++i) {
      const int low = (block.qs[i % 16] >> (4 * (i / 16))) & 15;
      const int high = (block.qh[i / 8] >> (i % 8)) & 1;
      x[i] = d * static_cast<float>((low | (high << 4)) - 16);
    }
  });
}

}  // namespace adit
