#include "tensor/iq1_m.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ1M(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ1M, 256>(blocks, out, num_elements, [](const BlockIQ1M& block, float* x) {
    const float d = HalfToFloat(ScaleBitsOf(block));
    for (int j = 0; j < 32; ++j, x += 8) {
      const int scale = block.scales[j / 8] >> (3 * (j / 2 % 4)) & 7;
      const int qh = block.qh[j / 2] >> (4 * (j % 2));
      const int index = block.qs[j] | (qh & 7) << 8;
      PutShifted(d * static_cast<float>(2 * scale + 1), kIQ1SGrid.entries[index], (qh & 8) != 0 ? -0.125f : 0.125f, x);
    }
  });
}

}  // namespace adit
