#include "support/safetensors_builder.h"

#include <fmt/core.h>

#include <cstring>

namespace adit::test {

std::vector<std::byte> SafetensorsBytes(std::string_view header, std::span<const std::byte> data) {
  const uint64_t length = header.size();
  std::vector<std::byte> bytes(sizeof(length) + header.size() + data.size());
  std::memcpy(bytes.data(), &length, sizeof(length));
  std::memcpy(bytes.data() + sizeof(length), header.data(), header.size());
  if (!data.empty()) std::memcpy(bytes.data() + sizeof(length) + header.size(), data.data(), data.size());
  return bytes;
}

SafetensorsBuilder& SafetensorsBuilder::Add(std::string_view name, std::string_view dtype,
                                            const std::vector<int64_t>& shape, std::span<const std::byte> bytes) {
  std::string dimensions;
  for (const int64_t size : shape) dimensions += fmt::format("{}{}", dimensions.empty() ? "" : ",", size);
  const size_t begin = data_.size();
  data_.insert(data_.end(), bytes.begin(), bytes.end());
  entries_ += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", entries_.empty() ? "" : ",",
                          name, dtype, dimensions, begin, data_.size());
  return *this;
}

SafetensorsBuilder& SafetensorsBuilder::AddF32(std::string_view name, const std::vector<int64_t>& shape,
                                               const std::vector<float>& values) {
  return Add(name, "F32", shape, std::as_bytes(std::span(values)));
}

std::vector<std::byte> SafetensorsBuilder::Build() const {
  return SafetensorsBytes(
      fmt::format(R"({{"__metadata__":{{"format":"pt"}}{}{}}})", entries_.empty() ? "" : ",", entries_), data_);
}

}  // namespace adit::test
