#ifndef ADIT_TENSOR_ENCODE_SEARCH_INTERNAL_H_
#define ADIT_TENSOR_ENCODE_SEARCH_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace adit::encode {

inline uint8_t Bits(int value) { return static_cast<uint8_t>(value); }

// Calls encode(x, importance or null, block) for each block, in order.
template <typename Block, int kBlockElements, typename EncodeBlock>
void ForEachWeighted(const float* values, const float* importance, std::byte* blocks, int64_t num_elements,
                     EncodeBlock encode) noexcept {
  ADIT_DCHECK(num_elements >= 0 && num_elements % kBlockElements == 0);
  for (int64_t begin = 0; begin < num_elements; begin += kBlockElements) {
    Block block{};
    encode(values + begin, importance != nullptr ? importance + begin : nullptr, block);
    std::memcpy(blocks, &block, sizeof(block));
    blocks += sizeof(block);
  }
}

// Rows of SearchEncodeFor (encode_search.cc) beside those that it has itself.
void SearchQ4_0(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept;
void SearchQ4_1(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept;
void SearchQ5_0(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept;
void SearchQ5_1(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept;
void SearchIQ4_NL(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept;

}  // namespace adit::encode

#endif  // ADIT_TENSOR_ENCODE_SEARCH_INTERNAL_H_
