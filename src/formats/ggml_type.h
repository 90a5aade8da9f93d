#ifndef ADIT_FORMATS_GGML_TYPE_H_
#define ADIT_FORMATS_GGML_TYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "tensor/dtype.h"

namespace adit::formats {

// A tensor type as GGUF files number it (ggml_type in ggml.h).
struct GgmlType {
  uint32_t number;
  std::string_view name;       // as ggml writes it: "Q4_K"
  std::optional<DType> dtype;  // none when this build cannot read it
};

// The type of that number, or null when ggml has defined none.
const GgmlType* FindGgmlType(uint32_t number);

// The row whose dtype is `dtype`. Every DType has one.
const GgmlType& GgmlTypeOf(DType dtype);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGML_TYPE_H_
