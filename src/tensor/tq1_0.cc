#include "tensor/tq1_0.h"

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeTQ1_0(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<BlockTQ1_0, 256>(blocks, out, num_elements, [](const BlockTQ1_0& block, float* x) {
    const float d = HalfToFloat(block.d);
    for (int i = 0; i < 256; ++i) {
      const TernaryPlace place = TernaryPlaceOf(i);
      const uint8_t byte = place.byte < 48 ? block.qs[place.byte] : block.qh[place.byte - 48];
      x[i] = d * static_cast<float>(TernaryDigit(byte, place.digit) - 1);
    }
  });
}

}  // namespace adit
