#include "engine/model_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/content_hash.h"

namespace adit::engine {

std::string Fingerprint(const LoadedModel& model, std::string_view build) {
  constexpr uint64_t kMask = (uint64_t{1} << 40) - 1;
  return fmt::format("fp_{}_{:010x}_{}", build, formats::ContentHash(model.file()) & kMask, model.kernels().name);
}

DType MainType(const LoadedModel& model) {
  std::map<DType, size_t> bytes;
  for (const formats::TensorInfo& tensor : model.file().tensors()) bytes[tensor.dtype] += tensor.size_bytes();
  return std::ranges::max_element(bytes, {}, [](const auto& entry) { return entry.second; })->first;
}

}  // namespace adit::engine
