#include "tensor/q4_1.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeQ4_1(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ4_1, 32>(blocks, out, num_elements, [](const BlockQ4_1& block, float* x) {
    const float d = HalfToFloat(block.d);
    const float m = HalfToFloat(block.m);
    for (int j = 0; j < 16; ++j) {
      x[j] = d * static_cast<float>(block.qs[j] & 15) + m;
      x[j + 16] = d * static_cast<float>(block.qs[j] >> 4) + m;
    }
  });
}

}  // namespace adit
