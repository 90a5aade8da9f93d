#include "tensor/iq3_s.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"
#include "tensor/iq_decode_internal.h"
#include "tensor/iq_grids.h"

namespace adit {

void DecodeIQ3S(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockIQ3S, 256>(blocks, out, num_elements, [](const BlockIQ3S& block, float* x) {
    const float d = HalfToFloat(block.d);
    const auto entry = [&block](int quad) {
      return kIQ3SGrid.entries[block.qs[quad] | (block.qh[quad / 8] >> (quad % 8) & 1) << 8];
    };
    for (int j = 0; j < 32; ++j, x += 8) {
      const int scale = block.scales[j / 8] >> (4 * (j / 4 % 2)) & 15;
      const uint64_t magnitudes = entry(2 * j) | uint64_t{entry(2 * j + 1)} << 32;
      PutSigned(d * static_cast<float>(2 * scale + 1), magnitudes, block.signs[j], x);
    }
  });
}

}  // namespace adit
