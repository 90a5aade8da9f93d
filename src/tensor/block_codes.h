#ifndef ADIT_TENSOR_BLOCK_CODES_H_
#define ADIT_TENSOR_BLOCK_CODES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "tensor/dtype.h"

namespace adit {

// What the elements of one block can be, its scales being what they are: low + step * level, where a level is a code
// 0 .. num_codes - 1 or what a table has for it. For methods that choose codes one by one after the scales.
struct BlockGrid {
  static constexpr int kMaxElements = 256;

  int num_codes = 0;
  const int8_t* table = nullptr;  // [num_codes], rising; null: a level is its code
  std::array<float, kMaxElements> low;
  std::array<float, kMaxElements> step;

  float Value(int element, int code) const {
    const auto level = static_cast<float>(table != nullptr ? table[code] : code);
    return low[static_cast<size_t>(element)] + step[static_cast<size_t>(element)] * level;
  }
  // The code whose value is nearest to x.
  int Nearest(int element, float x) const;
};

// Whether the type's blocks can be treated so: Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS, Int4 and Int8.
bool HasBlockGrid(DType dtype);
// Of a block that has been encoded. Requires HasBlockGrid.
BlockGrid GridOf(DType dtype, const std::byte* block);
// Puts other codes into an encoded block.
void SetCodes(DType dtype, const uint8_t* codes, std::byte* block);

}  // namespace adit

#endif  // ADIT_TENSOR_BLOCK_CODES_H_
