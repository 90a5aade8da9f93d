#include "tensor/int4.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeInt4(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockInt4, 32>(blocks, out, num_elements, [](const BlockInt4& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int j = 0; j < 16; ++j) {
      x[j] = d * static_cast<float>((block.qs[j] & 15) - block.zero);
      x[j + 16] = d * static_cast<float>((block.qs[j] >> 4) - block.zero);
    }
  });
}

}  // namespace adit
