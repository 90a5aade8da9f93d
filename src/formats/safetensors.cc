#include "formats/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "formats/json.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are used as they lie in the file");

// From the description of the format.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
// Real files hold some thousands of tensors; the values of a header's JSON are at most ten times as many.
constexpr size_t kMaxTensors = 262'144;
constexpr JsonLimits kHeaderLimits{.max_bytes = kMaxHeaderBytes, .max_depth = 4, .max_values = 10 * kMaxTensors};
constexpr size_t kMaxRank = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

// The JSON text behind the length.
Result<std::string_view> HeaderText(std::span<const std::byte> file, const std::string& path) {
  uint64_t length = 0;
  if (file.size() < sizeof(length)) {
    return Corrupt("safetensors: {}: {} bytes, wanted at least the 8 of the header's length", path, file.size());
  }
  std::memcpy(&length, file.data(), sizeof(length));
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + sizeof(length),
                              file.size() - sizeof(length));
  constexpr std::string_view kLfsPointer = "version https://";
  if (file.size() >= kLfsPointer.size() && std::memcmp(file.data(), kLfsPointer.data(), kLfsPointer.size()) == 0) {
    return Corrupt("safetensors: {}: a Git LFS pointer, not the file that it stands for; fetch it with `git lfs pull`",
                   path);
  }
  if (length > kMaxHeaderBytes) {
    return ResourceExhausted("safetensors: {}: header of {} bytes, the limit is {}", path, length, kMaxHeaderBytes);
  }
  if (length > text.size()) {
    return Corrupt("safetensors: {}: header of {} bytes exceeds the {} bytes of the file after its length", path,
                   length, text.size());
  }
  if (length == 0 || text.front() != '{') {
    return Corrupt("safetensors: {}: the header does not begin with '{{'", path);
  }
  return text.substr(0, static_cast<size_t>(length));
}

// Reads the entries of one header.
class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::span<const std::byte> data) : path_(path), data_(data) {}

  Result<SafetensorsTensor> ReadTensor(const std::string& name, const Json& entry) const {
    if (entry.AsObject() == nullptr) return Bad(name, "is {}, wanted an object", entry.KindName());
    SafetensorsTensor tensor{.name = name};
    ADIT_RETURN_IF_ERROR(ReadType(entry, tensor));
    uint64_t num_bytes = static_cast<uint64_t>(tensor.type->element_bytes);
    ADIT_RETURN_IF_ERROR(ReadShape(entry, tensor, num_bytes));
    ADIT_RETURN_IF_ERROR(ReadRange(entry, tensor, num_bytes));
    return tensor;
  }

  Status CheckMetadata(const Json& entry) const {
    const Json::Object* members = entry.AsObject();
    if (members == nullptr)
      return Corrupt("safetensors: {}: __metadata__ is {}, wanted an object", path_, entry.KindName());
    for (const auto& [key, value] : *members) {
      if (value.AsString() != nullptr) continue;
      return Corrupt("safetensors: {}: __metadata__: {} is {}, wanted a string", path_, Quoted(key), value.KindName());
    }
    return Status();
  }

 private:
  template <typename... Args>
  Status Bad(const std::string& name, fmt::format_string<Args...> format, Args&&... args) const {
    return Corrupt("safetensors: {}: tensor {} {}", path_, Quoted(name),
                   fmt::format(format, std::forward<Args>(args)...));
  }

  Status ReadType(const Json& entry, SafetensorsTensor& tensor) const {
    const Json* dtype = entry.Find("dtype");
    if (dtype == nullptr || dtype->AsString() == nullptr) return Bad(tensor.name, "has no dtype");
    tensor.type = FindSafetensorsType(*dtype->AsString());
    if (tensor.type == nullptr) return Bad(tensor.name, "has the unknown dtype {}", Quoted(*dtype->AsString()));
    if (tensor.type->element_bytes > 0) return Status();
    return Unsupported("safetensors: {}: tensor {}: dtype {} is not supported", path_, Quoted(tensor.name),
                       tensor.type->name);
  }

  // Multiplies num_bytes by the dimensions.
  Status ReadShape(const Json& entry, SafetensorsTensor& tensor, uint64_t& num_bytes) const {
    const Json* shape = entry.Find("shape");
    if (shape == nullptr || shape->AsArray() == nullptr) return Bad(tensor.name, "has no shape");
    if (shape->AsArray()->size() > kMaxRank) {
      return Bad(tensor.name, "has {} dimensions, the limit is {}", shape->AsArray()->size(), kMaxRank);
    }
    for (const Json& element : *shape->AsArray()) {
      const int64_t* size = element.AsInt();
      if (size == nullptr || *size < 0) return Bad(tensor.name, "has a dimension that is no integer of 0 or more");
      // The product of the dimensions alone fits as well, as elements have at least one byte; but 0 may follow.
      if (__builtin_mul_overflow(num_bytes, static_cast<uint64_t>(std::max<int64_t>(*size, 1)), &num_bytes) ||
          !std::in_range<int64_t>(num_bytes)) {
        return Bad(tensor.name, "has more than 2^63 - 1 bytes at dimension {}", *size);
      }
      tensor.shape.push_back(*size);
    }
    if (tensor.num_elements() == 0) num_bytes = 0;
    return Status();
  }

  Status ReadRange(const Json& entry, SafetensorsTensor& tensor, uint64_t num_bytes) const {
    const Json* offsets = entry.Find("data_offsets");
    const Json::Array* pair = offsets == nullptr ? nullptr : offsets->AsArray();
    if (pair == nullptr || pair->size() != 2 || (*pair)[0].AsInt() == nullptr || (*pair)[1].AsInt() == nullptr) {
      return Bad(tensor.name, "has no data_offsets of two integers");
    }
    const int64_t begin = *(*pair)[0].AsInt();
    const int64_t end = *(*pair)[1].AsInt();
    if (begin < 0 || end < begin || static_cast<uint64_t>(end) > data_.size()) {
      return Bad(tensor.name, "lies at {}..{}, outside of the {} bytes of data", begin, end, data_.size());
    }
    if (static_cast<uint64_t>(end - begin) != num_bytes) {
      return Bad(tensor.name, "takes {} bytes, its shape and dtype {} want {}", end - begin, tensor.type->name,
                 num_bytes);
    }
    tensor.data = data_.subspan(static_cast<size_t>(begin), static_cast<size_t>(num_bytes));
    return Status();
  }

  const std::string& path_;
  std::span<const std::byte> data_;
};

// Laid side by side, the tensors cover the data from its first byte to its last.
Status CheckCover(std::span<const SafetensorsTensor> tensors, std::span<const std::byte> data,
                  const std::string& path) {
  std::vector<const SafetensorsTensor*> by_place;
  for (const SafetensorsTensor& tensor : tensors) by_place.push_back(&tensor);
  // Empty ones come before what begins where they lie.
  std::sort(by_place.begin(), by_place.end(), [](const SafetensorsTensor* a, const SafetensorsTensor* b) {
    return std::pair(a->data.data(), a->data.size()) < std::pair(b->data.data(), b->data.size());
  });
  const std::byte* next = data.data();
  for (const SafetensorsTensor* tensor : by_place) {
    if (tensor->data.data() < next) {
      return Corrupt("safetensors: {}: tensor {} at {} overlaps another tensor", path, Quoted(tensor->name),
                     tensor->data.data() - data.data());
    }
    if (tensor->data.data() > next) {
      return Corrupt("safetensors: {}: {} bytes before tensor {} belong to no tensor", path, tensor->data.data() - next,
                     Quoted(tensor->name));
    }
    next = tensor->data.data() + tensor->data.size();
  }
  const std::byte* end = data.data() + data.size();
  if (next == end) return Status();
  return Corrupt("safetensors: {}: the last {} bytes belong to no tensor", path, end - next);
}

Result<std::vector<SafetensorsTensor>> ReadTensors(std::span<const std::byte> file, const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(const std::string_view text, HeaderText(file, path));
  ADIT_ASSIGN_OR_RETURN(const Json header, Json::Parse(text, "safetensors: " + path + ": header", kHeaderLimits));
  const std::span<const std::byte> data = file.subspan(sizeof(uint64_t) + text.size());
  const HeaderReader reader(path, data);
  std::vector<SafetensorsTensor> tensors;
  for (const auto& [name, entry] : *header.AsObject()) {
    if (name == kMetadataKey) {
      ADIT_RETURN_IF_ERROR(reader.CheckMetadata(entry));
      continue;
    }
    ADIT_ASSIGN_OR_RETURN(SafetensorsTensor tensor, reader.ReadTensor(name, entry));
    tensors.push_back(std::move(tensor));
  }
  ADIT_RETURN_IF_ERROR(CheckCover(tensors, data, path));
  return tensors;
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::Parse(std::span<const std::byte> bytes, const std::string& name) {
  SafetensorsFile file;
  file.path_ = name;
  file.size_bytes_ = bytes.size();
  ADIT_ASSIGN_OR_RETURN(file.tensors_, ReadTensors(bytes, name));
  return file;
}

Result<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  ADIT_ASSIGN_OR_RETURN(SafetensorsFile file, Parse(mapped.bytes(), path));
  file.file_ = std::move(mapped);
  return file;
}

bool SafetensorsFile::Copy(std::span<const std::byte> bytes, std::byte* out) const {
  if (!file_ || !file_->Contains(bytes)) return false;
  file_->Copy(bytes, out);
  return true;
}

void SafetensorsFile::Release(std::span<const std::byte> bytes) const {
  if (file_ && file_->Contains(bytes)) file_->Release(bytes);
}

}  // namespace adit::formats
