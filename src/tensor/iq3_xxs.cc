#include "tensor/iq3_xxs.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ3XXS(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ3XXS, 256>(blocks, out, num_elements, [](const BlockIQ3XXS& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int j = 0; j < 32; ++j, x += 8) {
      const uint32_t word = block.signs[j / 4];
      const float scale = d * (static_cast<float>(word >> 28) + 0.5f) * 0.5f;
      const uint64_t magnitudes =
          kIQ3XXSGrid.entries[block.qs[2 * j]] | uint64_t{kIQ3XXSGrid.entries[block.qs[2 * j + 1]]} << 32;
      PutSigned(scale, magnitudes, EvenSigns(word >> (7 * (j % 4)) & 127), x);
    }
  });
}

}  // namespace adit
