#ifndef ADIT_TENSOR_DECODE_INTERNAL_H_
#define ADIT_TENSOR_DECODE_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace adit {

// Calls decode(block, out) for each block of kBlockElements elements, in order. Blocks are copied out of the bytes,
// which need not be aligned.
template <typename Block, int kBlockElements, typename DecodeBlock>
void ForEachBlock(const std::byte* blocks, float* out, int64_t num_elements, DecodeBlock decode) noexcept {
  ADIT_DCHECK(num_elements >= 0 && num_elements % kBlockElements == 0);
  for (int64_t begin = 0; begin < num_elements; begin += kBlockElements) {
    Block block;
    std::memcpy(&block, blocks, sizeof(block));
    decode(block, out);
    blocks += sizeof(block);
    out += kBlockElements;
  }
}

}  // namespace adit

#endif  // ADIT_TENSOR_DECODE_INTERNAL_H_
