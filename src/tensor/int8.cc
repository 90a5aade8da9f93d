#include "tensor/int8.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"

namespace adit {

void DecodeInt8(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockInt8, 32>(blocks, out, num_elements, [](const BlockInt8& block, float* x) {
    for (int i = 0; i < 32; ++i) x[i] = block.d * static_cast<float>(block.qs[i]);
  });
}

}  // namespace adit
