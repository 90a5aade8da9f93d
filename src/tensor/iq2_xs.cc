#include "tensor/iq2_xs.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ2XS(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ2XS, 256>(blocks, out, num_elements, [](const BlockIQ2XS& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int j = 0; j < 32; ++j, x += 8) {
      const int scale = block.scales[j / 4] >> (4 * (j / 2 % 2)) & 15;
      PutSigned(d * (static_cast<float>(scale) + 0.5f) * 0.25f, kIQ2XSGrid.entries[block.qs[j] & 511],
                EvenSigns(block.qs[j] >> 9), x);
    }
  });
}

}  // namespace adit
