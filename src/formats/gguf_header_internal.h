#ifndef ADIT_FORMATS_GGUF_HEADER_INTERNAL_H_
#define ADIT_FORMATS_GGUF_HEADER_INTERNAL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "formats/ggml_type.h"
#include "formats/gguf_metadata.h"
#include "formats/weight_source.h"

namespace adit::formats {

// One entry of the tensor table, its shape and type checked, its place in the file not yet.
struct GgufTensorEntry {
  std::string name;
  const GgmlType* type = nullptr;  // one that this build reads
  int rank = 0;
  std::array<int64_t, kMaxTensorRank> shape = {1, 1, 1, 1};  // outermost first, as in TensorInfo
  uint64_t size_bytes = 0;                                   // what the shape takes; at least 1
  uint64_t offset = 0;                                       // from the start of the data section
};

struct GgufHeader {
  uint32_t version = 0;
  GgufMetadata metadata;
  std::vector<GgufTensorEntry> tensors;  // in the order of the file, names unique
  size_t end = 0;                        // bytes from the start of the file; the data section follows, aligned
};

// Reads everything before the data section. `path` names the file in messages.
Result<GgufHeader> ReadGgufHeader(std::span<const std::byte> file, const std::string& path);

}  // namespace adit::formats

#endif  // ADIT_FORMATS_GGUF_HEADER_INTERNAL_H_
