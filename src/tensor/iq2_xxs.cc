#include "tensor/iq2_xxs.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ2XXS(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ2XXS, 256>(blocks, out, num_elements, [](const BlockIQ2XXS& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (const auto& group : block.groups) {
      const float scale = d * (static_cast<float>(group.signs >> 28) + 0.5f) * 0.25f;
      for (int j = 0; j < 4; ++j, x += 8) {
        PutSigned(scale, kIQ2XXSGrid.entries[group.index[j]], EvenSigns(group.signs >> (7 * j) & 127), x);
      }
    }
  });
}

}  // namespace adit
