#ifndef ADIT_TENSOR_ENCODE_INTERNAL_H_
#define ADIT_TENSOR_ENCODE_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace adit {

// Calls encode(x, block) for each block of kBlockElements floats, in order.
template <typename Block, int kBlockElements, typename EncodeBlock>
void ForEachBlockOf(const float* values, std::byte* blocks, int64_t num_elements, EncodeBlock encode) noexcept {
  ADIT_DCHECK(num_elements >= 0 && num_elements % kBlockElements == 0);
  for (int64_t begin = 0; begin < num_elements; begin += kBlockElements) {
    Block block{};
    encode(values + begin, block);
    std::memcpy(blocks, &block, sizeof(block));
    blocks += sizeof(block);
  }
}

// Encoders of the types of a few values. Rows of EncodeFor (encode.cc) beside those that it has itself.
void EncodeTQ1_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept;
void EncodeTQ2_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept;
void EncodeMXFP4(const float* values, std::byte* blocks, int64_t num_elements) noexcept;

}  // namespace adit

#endif  // ADIT_TENSOR_ENCODE_INTERNAL_H_
