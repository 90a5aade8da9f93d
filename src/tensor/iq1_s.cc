#include "tensor/iq1_s.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ1S(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ1S, 256>(blocks, out, num_elements, [](const BlockIQ1S& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int j = 0; j < 32; ++j, x += 8) {
      const int qh = block.qh[j / 4];
      const float scale = d * static_cast<float>(2 * (qh >> 12 & 7) + 1);
      const int index = block.qs[j] | (qh >> (3 * (j % 4)) & 7) << 8;
      PutShifted(scale, kIQ1SGrid.entries[index], (qh & 0x8000) != 0 ? -0.125f : 0.125f, x);
    }
  });
}

}  // namespace adit
