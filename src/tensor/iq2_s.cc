#include "tensor/iq2_s.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ2S(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ2S, 256>(blocks, out, num_elements, [](const BlockIQ2S& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int j = 0; j < 32; ++j, x += 8) {
      const int scale = block.scales[j / 4] >> (4 * (j / 2 % 2)) & 15;
      const int index = block.qs[j] | (block.qh[j / 4] >> (2 * (j % 4)) & 3) << 8;
      PutSigned(d * (static_cast<float>(scale) + 0.5f) * 0.25f, kIQ2SGrid.entries[index], block.signs[j], x);
    }
  });
}

}  // namespace adit
