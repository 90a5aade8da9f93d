// Any bytes as a safetensors file: it is refused with a message, or everything it gives can be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "formats/safetensors.h"

namespace {

using adit::formats::SafetensorsFile;
using adit::formats::SafetensorsTensor;

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckTensor(const SafetensorsTensor& tensor, std::span<const std::byte> bytes) {
  const int64_t count = tensor.num_elements();
  Require(tensor.data.size() == static_cast<size_t>(count) * static_cast<size_t>(tensor.type->element_bytes));
  Require(tensor.data.data() >= bytes.data() && tensor.data.data() + tensor.data.size() <= bytes.data() + bytes.size());
  if (!tensor.type->is_real()) return;
  std::vector<float> values(static_cast<size_t>(count));
  const auto decode = tensor.type->dtype ? adit::Traits(*tensor.type->dtype).decode : tensor.type->decode;
  decode(tensor.data.data(), values.data(), count);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = SafetensorsFile::Parse(bytes, "fuzz");
  if (!file.ok()) {
    const std::string message = file.status().message();
    Require(!message.empty() && message.size() < 1000);
    Require(std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c <= 0x7e; }));
    return 0;
  }
  size_t total = 0;
  for (const SafetensorsTensor& tensor : file->tensors()) {
    CheckTensor(tensor, bytes);
    total += tensor.data.size();
  }
  Require(total < bytes.size());
  return 0;
}
