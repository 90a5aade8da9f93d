#include "tensor/q8_0.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeQ8_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockQ8_0, 32>(blocks, out, num_elements, [](const BlockQ8_0& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int i = 0; i < 32; ++i) x[i] = d * static_cast<float>(block.qs[i]);
  });
}

}  // namespace adit
