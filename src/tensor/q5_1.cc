#include "tensor/q5_1.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeQ5_1(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ5_1, 32>(blocks, out, num_elements, [](const BlockQ5_1& block, float* x) {
    const float d = HalfToFloat(block.d);
    const float m = HalfToFloat(block.m);
    for (int i = 0; i < 32; ++i) {
      const int low = (block.qs[i % 16] >> (4 * (i / 16))) & 15;
      const int high = (block.qh[i / 8] >> (i % 8)) & 1;
      x[i] = d * static_cast<float>(low | (high << 4)) + m;
    }
  });
}

}  // namespace adit
