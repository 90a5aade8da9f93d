#ifndef ADIT_FORMATS_SAFETENSORS_TYPE_H_
#define ADIT_FORMATS_SAFETENSORS_TYPE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace adit::formats {

// An element type of the safetensors format.
struct SafetensorsType {
  std::string_view name;  // as the file writes it: "BF16"
  int element_bytes = 0;  // 0: a type whose elements share bytes, which this build does not read
  // The weight type with the same bytes, where there is one.
  std::optional<DType> dtype;
  // Widens num_elements from bytes that need not be aligned; null where dtype is set or elements are no real numbers.
  // Exact, but for integers beyond 2^24 and F64, which round to the nearest float.
  void (*decode)(const std::byte* bytes, float* out, int64_t num_elements) noexcept = nullptr;

  // Whether its elements can be used as weights.
  bool is_real() const { return dtype.has_value() || decode != nullptr; }
};

// The type of that name, or null when the format has none.
const SafetensorsType* FindSafetensorsType(std::string_view name);

// Widening of types that GGUF files may hold too.
void DecodeF64(const std::byte* bytes, float* out, int64_t num_elements) noexcept;
void DecodeI8(const std::byte* bytes, float* out, int64_t num_elements) noexcept;
void DecodeI16(const std::byte* bytes, float* out, int64_t num_elements) noexcept;
void DecodeI32(const std::byte* bytes, float* out, int64_t num_elements) noexcept;
void DecodeI64(const std::byte* bytes, float* out, int64_t num_elements) noexcept;

}  // namespace adit::formats

#endif  // ADIT_FORMATS_SAFETENSORS_TYPE_H_
