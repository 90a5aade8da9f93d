#include "formats/ggml_type.h"

#include <algorithm>

#include "base/check.h"
#include "formats/safetensors_type.h"

namespace adit::formats {
namespace {

// In the order of their numbers. Types that ggml has dropped are here too, so that a message can name them.
constexpr GgmlType kGgmlTypes[] = {
    {0, "F32", DType::kF32},
    {1, "F16", DType::kF16},
    {2, "Q4_0", DType::kQ4_0},
    {3, "Q4_1", DType::kQ4_1},
    {4, "Q4_2", std::nullopt},
    {5, "Q4_3", std::nullopt},
    {6, "Q5_0", DType::kQ5_0},
    {7, "Q5_1", DType::kQ5_1},
    {8, "Q8_0", DType::kQ8_0},
    {9, "Q8_1", std::nullopt},
    {10, "Q2_K", DType::kQ2_K},
    {11, "Q3_K", DType::kQ3_K},
    {12, "Q4_K", DType::kQ4_K},
    {13, "Q5_K", DType::kQ5_K},
    {14, "Q6_K", DType::kQ6_K},
    {15, "Q8_K", std::nullopt},
    {16, "IQ2_XXS", DType::kIQ2_XXS},
    {17, "IQ2_XS", DType::kIQ2_XS},
    {18, "IQ3_XXS", DType::kIQ3_XXS},
    {19, "IQ1_S", DType::kIQ1_S},
    {20, "IQ4_NL", DType::kIQ4_NL},
    {21, "IQ3_S", DType::kIQ3_S},
    {22, "IQ2_S", DType::kIQ2_S},
    {23, "IQ4_XS", DType::kIQ4_XS},
    {24, "I8", std::nullopt, 1, &DecodeI8},
    {25, "I16", std::nullopt, 2, &DecodeI16},
    {26, "I32", std::nullopt, 4, &DecodeI32},
    {27, "I64", std::nullopt, 8, &DecodeI64},
    {28, "F64", std::nullopt, 8, &DecodeF64},
    {29, "IQ1_M", DType::kIQ1_M},
    {30, "BF16", DType::kBF16},
    {31, "Q4_0_4_4", std::nullopt},
    {32, "Q4_0_4_8", std::nullopt},
    {33, "Q4_0_8_8", std::nullopt},
    {34, "TQ1_0", DType::kTQ1_0},
    {35, "TQ2_0", DType::kTQ2_0},
    {36, "IQ4_NL_4_4", std::nullopt},
    {37, "IQ4_NL_4_8", std::nullopt},
    {38, "IQ4_NL_8_8", std::nullopt},
    {39, "MXFP4", DType::kMXFP4},
    {40, "NVFP4", DType::kNVFP4},
    {41, "Q1_0", std::nullopt},
    {42, "Q2_0", std::nullopt},
};

// Types of our own.
constexpr GgmlType kOwnTypes[] = {
    {kNoGgmlNumber, "INT4", DType::kInt4},
    {kNoGgmlNumber, "INT8", DType::kInt8},
    {kNoGgmlNumber, "FP8", DType::kFp8},
};

}  // namespace

const GgmlType* FindGgmlType(uint32_t number) {
  static_assert(kGgmlTypes[std::size(kGgmlTypes) - 1].number == std::size(kGgmlTypes) - 1);
  return number < std::size(kGgmlTypes) ? &kGgmlTypes[number] : nullptr;
}

const GgmlType& GgmlTypeOf(DType dtype) {
  const auto is_it = [dtype](const GgmlType& type) { return type.dtype == dtype; };
  const auto* row = std::find_if(std::begin(kGgmlTypes), std::end(kGgmlTypes), is_it);
  if (row != std::end(kGgmlTypes)) return *row;
  const auto* own = std::find_if(std::begin(kOwnTypes), std::end(kOwnTypes), is_it);
  ADIT_CHECK(own != std::end(kOwnTypes));
  return *own;
}

}  // namespace adit::formats
