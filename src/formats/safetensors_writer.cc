#include "formats/safetensors_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are written as they lie in memory");

constexpr size_t kMaxNameBytes = 128;

bool IsPlainName(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  return !name.empty() && name.size() <= kMaxNameBytes && std::all_of(name.begin(), name.end(), plain);
}

// The header with its length in front, so that the elements begin at a multiple of 8.
std::string HeaderBytes(std::string_view name, std::span<const int64_t> shape, int64_t size_bytes) {
  std::string dimensions;
  for (const int64_t size : shape) dimensions += fmt::format("{}{}", dimensions.empty() ? "" : ",", size);
  std::string header =
      fmt::format(R"({{"{}":{{"dtype":"F32","shape":[{}],"data_offsets":[0,{}]}}}})", name, dimensions, size_bytes);
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + header;
}

}  // namespace

Result<SafetensorsWriter> SafetensorsWriter::Create(const std::string& path, std::string_view name,
                                                    std::span<const int64_t> shape) {
  if (!IsPlainName(name)) {
    return InvalidArgument("safetensors: {}: tensor name {}: wanted 1 to {} letters, digits, '.', '_' and '-'", path,
                           Quoted(name), kMaxNameBytes);
  }
  int64_t num_elements = 1;
  int64_t size_bytes = 0;
  for (const int64_t size : shape) {
    if (size < 0) return InvalidArgument("safetensors: {}: dimension {} is negative", path, size);
    if (__builtin_mul_overflow(num_elements, size, &num_elements)) {
      return InvalidArgument("safetensors: {}: tensor '{}' has more than 2^63 - 1 elements", path, name);
    }
  }
  if (__builtin_mul_overflow(num_elements, int64_t{sizeof(float)}, &size_bytes)) {
    return InvalidArgument("safetensors: {}: tensor '{}' has more than 2^63 - 1 bytes", path, name);
  }
  ADIT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, "safetensors"));
  const std::string header = HeaderBytes(name, shape, size_bytes);
  ADIT_RETURN_IF_ERROR(file.Write(header.data(), header.size()));
  return SafetensorsWriter(std::move(file), num_elements);
}

Status SafetensorsWriter::Append(std::span<const float> values) {
  if (!file_.is_open()) return FailedPrecondition("safetensors: {}: appended to after it was finished", file_.path());
  if (static_cast<int64_t>(values.size()) > num_left_) {
    return FailedPrecondition("safetensors: {}: {} elements appended, the shape has room for {}", file_.path(),
                              values.size(), num_left_);
  }
  num_left_ -= static_cast<int64_t>(values.size());
  return file_.Write(values.data(), values.size_bytes());
}

Status SafetensorsWriter::Finish() {
  if (!file_.is_open()) return FailedPrecondition("safetensors: {}: finished twice", file_.path());
  if (num_left_ != 0) return FailedPrecondition("safetensors: {}: {} elements are missing", file_.path(), num_left_);
  return file_.Finish();
}

}  // namespace adit::formats
