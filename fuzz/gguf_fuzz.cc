// Any bytes as a GGUF file: it is refused with a message, or everything it gives can be read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "formats/gguf.h"

namespace {

using adit::formats::GgufFile;
using adit::formats::GgufMetadata;
using adit::formats::TensorInfo;

void Require(bool condition) {
  if (!condition) std::abort();
}

void CheckTensor(const GgufFile& file, const TensorInfo& tensor, std::span<const std::byte> bytes) {
  Require(file.Find(tensor.name) == &tensor);
  const int64_t row = tensor.row_elements();
  std::vector<float> values(static_cast<size_t>(row));
  if (tensor.is_computed()) {
    file.ReadRows(tensor, tensor.num_rows() - 1, 1, reinterpret_cast<std::byte*>(values.data()));
    return;
  }
  Require(tensor.data.size() == tensor.size_bytes());
  Require(tensor.data.data() >= bytes.data() && tensor.data.data() + tensor.data.size() <= bytes.data() + bytes.size());
  adit::Traits(tensor.dtype).decode(tensor.data.data(), values.data(), row);
  file.Release(tensor.data);
}

// A getter gives a value or an error that says something.
template <typename T>
void CheckGetter(const adit::Result<T>& result) {
  Require(result.ok() || !result.status().message().empty());
}

void CheckKey(const GgufMetadata& metadata, std::string_view key) {
  CheckGetter(metadata.GetInt(key));
  CheckGetter(metadata.GetFloat(key));
  CheckGetter(metadata.GetBool(key));
  CheckGetter(metadata.GetString(key));
  CheckGetter(metadata.GetStrings(key));
  CheckGetter(metadata.GetFloats(key));
  CheckGetter(metadata.GetInts(key));
  Require(metadata.Has(key));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto file = GgufFile::Parse(bytes, "fuzz");
  if (!file.ok()) {
    // A message is one line of plain text, whatever bytes the names in the file hold.
    const std::string message = file.status().message();
    Require(!message.empty() && message.size() < 1000);
    Require(std::all_of(message.begin(), message.end(), [](char c) { return c >= 0x20 && c <= 0x7e; }));
    return 0;
  }
  for (const TensorInfo& tensor : (*file)->tensors()) CheckTensor(**file, tensor, bytes);
  for (const auto& [key, value] : (*file)->metadata().values()) CheckKey((*file)->metadata(), key);
  return 0;
}
