#ifndef ADIT_FORMATS_GGML_TYPE_H_
#define ADIT_FORMATS_GGML_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace adit::formats {

inline constexpr uint32_t kNoGgmlNumber = UINT32_MAX;

// A tensor type as GGUF files number it (ggml_type in ggml.h).
struct GgmlType {
  uint32_t number;
  std::string_view name;       // as ggml writes it: "Q4_K"
  std::optional<DType> dtype;  // none when this build has no weights of it
  // Numbers that are only widened: bytes of one, and what widens them (exact, but for integers beyond 2^24 and F64,
  // which round to the nearest float). 0 and null for other types.
  int element_bytes = 0;
  void (*decode)(const std::byte* bytes, float* out, int64_t num_elements) noexcept = nullptr;
};

// The type of that number, or null when ggml has defined none.
const GgmlType* FindGgmlType(uint32_t number);

// The row whose dtype is `dtype`. Every DType has one; those that no GGUF file has have the number kNoGgmlNumber.
const GgmlType& GgmlTypeOf(DType dtype);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGML_TYPE_H_
