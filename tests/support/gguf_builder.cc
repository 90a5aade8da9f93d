#include "support/gguf_builder.h"

#include <fstream>

#include "base/check.h"

namespace adit::test {
namespace {

template <typename T>
void Append(std::vector<std::byte>& out, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof(value));
}

void AppendText(std::vector<std::byte>& out, std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  out.insert(out.end(), bytes, bytes + text.size());
}

void AppendString(std::vector<std::byte>& out, std::string_view text) {
  Append(out, static_cast<uint64_t>(text.size()));
  AppendText(out, text);
}

void Pad(std::vector<std::byte>& out, size_t alignment) {
  while (out.size() % alignment != 0) out.push_back(std::byte{0});
}

}  // namespace

GgufBuilder& GgufBuilder::AddRawPair(std::string_view key, uint32_t type, std::span<const std::byte> bytes) {
  BeginPair(key, type);
  pairs_.insert(pairs_.end(), bytes.begin(), bytes.end());
  return *this;
}

GgufBuilder& GgufBuilder::AddTensor(std::string_view name, DType dtype, std::vector<int64_t> shape,
                                    std::vector<std::byte> bytes) {
  RawGgufTensor tensor;
  tensor.name = name;
  tensor.dims.assign(shape.rbegin(), shape.rend());
  tensor.type = GgmlNumberOf(dtype);
  tensor.bytes = std::move(bytes);
  return AddRawTensor(std::move(tensor));
}

GgufBuilder& GgufBuilder::AddTensorF32(std::string_view name, std::vector<int64_t> shape,
                                       const std::vector<float>& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * sizeof(float));
  for (const float value : values) Append(bytes, value);
  return AddTensor(name, DType::kF32, std::move(shape), std::move(bytes));
}

GgufBuilder& GgufBuilder::AddRawTensor(RawGgufTensor tensor) {
  tensors_.push_back(std::move(tensor));
  return *this;
}

std::vector<std::byte> GgufBuilder::Build() const {
  std::vector<std::byte> out;
  AppendText(out, magic);
  Append(out, version);
  Append(out, num_tensors.value_or(tensors_.size()));
  Append(out, num_pairs.value_or(pair_count_));
  out.insert(out.end(), pairs_.begin(), pairs_.end());

  std::vector<std::byte> data;
  for (const RawGgufTensor& tensor : tensors_) {
    AppendString(out, tensor.name);
    Append(out, tensor.num_dims.value_or(static_cast<uint32_t>(tensor.dims.size())));
    for (const uint64_t dim : tensor.dims) Append(out, dim);
    Append(out, tensor.type);
    Pad(data, alignment);
    Append(out, tensor.offset.value_or(data.size()));
    data.insert(data.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  Pad(out, alignment);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

void GgufBuilder::BeginPair(std::string_view key, uint32_t type) {
  ++pair_count_;
  AppendString(pairs_, key);
  Append(pairs_, type);
}

void GgufBuilder::AppendValue(const std::string& value) { AppendString(pairs_, value); }

uint32_t GgmlNumberOf(DType dtype) {
  constexpr uint32_t kNumbers[] = {0,
                                   1,
                                   30,
                                   2,
                                   3,
                                   6,
                                   7,
                                   8,
                                   10,
                                   11,
                                   12,
                                   13,
                                   14,
                                   20,
                                   23,
                                   19,
                                   29,
                                   16,
                                   17,
                                   22,
                                   18,
                                   21,
                                   34,
                                   35,
                                   39,
                                   40,
                                   kNoGgmlNumber,
                                   kNoGgmlNumber,
                                   kNoGgmlNumber};
  static_assert(std::size(kNumbers) == kNumDTypes);
  return kNumbers[static_cast<size_t>(dtype)];
}

void WriteFile(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  ADIT_CHECK(file.good());
}

}  // namespace adit::test
