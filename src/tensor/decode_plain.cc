#include <cstring>

#include "tensor/decode.h"
#include "tensor/decode_internal.h"
#include "tensor/half.h"

namespace adit {

void DecodeF32(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ADIT_DCHECK(num_elements >= 0);
  if (num_elements > 0) std::memcpy(out, blocks, static_cast<size_t>(num_elements) * sizeof(float));
}

void DecodeF16(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<uint16_t, 1>(blocks, out, num_elements, [](uint16_t half, float* x) { *x = HalfToFloat(half); });
}

void DecodeBF16(const std::byte* blocks, float* out, int64_t num_elements) noexcept {
  ForEachBlock<uint16_t, 1>(blocks, out, num_elements, [](uint16_t bf16, float* x) { *x = Bf16ToFloat(bf16); });
}

}  // namespace adit
