#include "quant/rounded_layer.h"

#include <utility>

namespace adit::quant {

void RoundedLayer::Add(const formats::TensorInfo& tensor, DType dtype, std::vector<std::byte> bytes) {
  Entry& entry = entries_[std::string(tensor.name)];
  entry.bytes = std::move(bytes);
  entry.info = tensor;
  entry.info.dtype = dtype;
  entry.info.data = entry.bytes;
}

void RoundedLayer::ForEach(const std::function<void(const formats::TensorInfo& tensor)>& take) const {
  for (const auto& [name, entry] : entries_) take(entry.info);
}

const formats::TensorInfo* RoundedLayer::Find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? model_.Find(name) : &found->second.info;
}

// What is in memory stays there.
void RoundedLayer::Release(std::span<const std::byte> bytes) const {
  for (const auto& [name, entry] : entries_) {
    if (bytes.data() >= entry.bytes.data() && bytes.data() < entry.bytes.data() + entry.bytes.size()) return;
  }
  model_.Release(bytes);
}

void RoundedLayer::ReadRows(const formats::TensorInfo& tensor, int64_t first_row, int64_t num_rows,
                            std::byte* out) const {
  const auto found = entries_.find(tensor.name);
  if (found == entries_.end()) return model_.ReadRows(tensor, first_row, num_rows, out);
  WeightSource::ReadRows(found->second.info, first_row, num_rows, out);
}

}  // namespace adit::quant
