#ifndef ADIT_TENSOR_DTYPE_H_
#define ADIT_TENSOR_DTYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace adit {

// How the elements of a tensor are stored. Block types keep the names of the ggml project, which defined them, but for
// the last three: what checkpoints of other quantisers become in memory, which no file has.
enum class DType : uint8_t {
  kF32,
  kF16,
  kBF16,
  kQ4_0,
  kQ4_1,
  kQ5_0,
  kQ5_1,
  kQ8_0,
  kQ2_K,
  kQ3_K,
  kQ4_K,
  kQ5_K,
  kQ6_K,
  kIQ4_NL,
  kIQ4_XS,
  kIQ1_S,
  kIQ1_M,
  kIQ2_XXS,
  kIQ2_XS,
  kIQ2_S,
  kIQ3_XXS,
  kIQ3_S,
  kTQ1_0,
  kTQ2_0,
  kMXFP4,
  kNVFP4,
  kInt4,
  kInt8,
  kFp8,
};
inline constexpr int kNumDTypes = 29;

struct DTypeTraits {
  const char* name;    // as users write it: "f32", "q4_k"
  int block_elements;  // elements in one block; 1 for plain types
  int block_bytes;     // bytes of one block
  // Widens num_elements (a multiple of block_elements) from `blocks` to `out`, bit-exact to the definition of the type.
  // `blocks` need not be aligned.
  void (*decode)(const std::byte* blocks, float* out, int64_t num_elements) noexcept;
};

// One row per type, in the order of DType.
const DTypeTraits& Traits(DType dtype);

// The type that users call `name`, in lower or upper case.
std::optional<DType> ParseDType(std::string_view name);

// Bytes of a row of num_elements; num_elements is a multiple of the block size.
inline size_t RowBytes(DType dtype, int64_t num_elements) {
  const DTypeTraits& traits = Traits(dtype);
  return static_cast<size_t>(num_elements / traits.block_elements) * static_cast<size_t>(traits.block_bytes);
}

}  // namespace adit

#endif  // ADIT_TENSOR_DTYPE_H_
