#include "tensor/iq4_nl.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeIQ4NL(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ4NL, 32>(blocks, out, num_elements, [](const BlockIQ4NL& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int j = 0; j < 16; ++j) {
      x[j] = d * static_cast<float>(kIQ4NLValues[block.qs[j] & 15]);
      x[j + 16] = d * static_cast<float>(kIQ4NLValues[block.qs[j] >> 4]);
    }
  });
}

}  // namespace adit
