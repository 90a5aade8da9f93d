#include "formats/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <variant>

#include "base/error.h"
#include "formats/ggml_type.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

static_assert(std::endian::native == std::endian::little, "fields are written as they lie in memory");

constexpr uint32_t kVersion = 3;
constexpr size_t kAlignment = 32;
constexpr std::string_view kArchitectureKey = "general.architecture";

size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

// The bytes before the data section.
class Header {
 public:
  template <typename T>
  void Put(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void PutString(std::string_view text) {
    Put(static_cast<uint64_t>(text.size()));
    bytes_.append(text);
  }
  void PutPair(std::string_view key, const GgufValue& value) {
    PutString(key);
    Put(static_cast<uint32_t>(value.type));
    std::visit([&](const auto& held) { PutHeld(value, held); }, value.value);
  }
  void Pad() { bytes_.resize(Aligned(bytes_.size()), '\0'); }
  const std::string& bytes() const { return bytes_; }

 private:
  // A widened number in the type that the file has for it.
  template <typename T>
  void PutNumber(GgufType type, T number) {
    switch (type) {
      case GgufType::kU8:
      case GgufType::kI8:
      case GgufType::kBool:
        return Put(static_cast<uint8_t>(number));
      case GgufType::kU16:
      case GgufType::kI16:
        return Put(static_cast<uint16_t>(number));
      case GgufType::kU32:
        return Put(static_cast<uint32_t>(number));
      case GgufType::kI32:
        return Put(static_cast<int32_t>(number));
      case GgufType::kF32:
        return Put(static_cast<float>(number));
      case GgufType::kF64:
        return Put(static_cast<double>(number));
      default:
        return Put(static_cast<int64_t>(number));
    }
  }

  template <typename T>
  void PutHeld(const GgufValue& value, const T& held) {
    if constexpr (std::is_same_v<T, std::string>) {
      PutString(held);
    } else if constexpr (std::is_arithmetic_v<T>) {
      PutNumber(value.type, held);
    } else {
      Put(static_cast<uint32_t>(value.element_type));
      Put(static_cast<uint64_t>(held.size()));
      for (const auto& element : held) {
        if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          PutString(element);
        } else {
          PutNumber(value.element_type, static_cast<typename T::value_type>(element));
        }
      }
    }
  }

  std::string bytes_;
};

Status CheckNames(const std::string& path, const std::map<std::string, GgufValue, std::less<>>& values,
                  std::span<const GgufTensorPlan> tensors) {
  for (const auto& [key, value] : values) {
    if (key.empty() || key.size() > kMaxGgufKeyBytes || !IsPrintableAscii(key)) {
      return InvalidArgument("gguf: {}: key {}: wanted 1 to {} bytes of printable ASCII", path, Quoted(key),
                             kMaxGgufKeyBytes);
    }
  }
  std::unordered_set<std::string_view> names;
  for (const GgufTensorPlan& tensor : tensors) {
    if (tensor.name.empty() || tensor.name.size() > kMaxGgufTensorNameBytes || !IsPrintableAscii(tensor.name)) {
      return InvalidArgument("gguf: {}: tensor name {}: wanted 1 to {} bytes of printable ASCII", path,
                             Quoted(tensor.name), kMaxGgufTensorNameBytes);
    }
    if (GgmlTypeOf(tensor.dtype).number == kNoGgmlNumber) {
      return InvalidArgument("gguf: {}: tensor {}: GGUF files have no type {}", path, Quoted(tensor.name),
                             Traits(tensor.dtype).name);
    }
    if (!names.insert(tensor.name).second) {
      return InvalidArgument("gguf: {}: tensor {} occurs twice", path, Quoted(tensor.name));
    }
    const int64_t row = tensor.rank < 1 ? 0 : tensor.shape[static_cast<size_t>(tensor.rank - 1)];
    if (tensor.rank > kMaxTensorRank || tensor.size_bytes() == 0 || row % Traits(tensor.dtype).block_elements != 0) {
      return InvalidArgument("gguf: {}: tensor {} has rows of {} elements, which its type cannot hold", path,
                             Quoted(tensor.name), row);
    }
  }
  return Status();
}

std::string HeaderBytes(const std::map<std::string, GgufValue, std::less<>>& values,
                        std::span<const GgufTensorPlan> tensors) {
  Header header;
  for (const char c : std::string_view("GGUF")) header.Put(c);
  header.Put(kVersion);
  header.Put(static_cast<uint64_t>(tensors.size()));
  header.Put(static_cast<uint64_t>(values.size()));
  // The specification wants this key first.
  if (const auto first = values.find(kArchitectureKey); first != values.end()) {
    header.PutPair(first->first, first->second);
  }
  for (const auto& [key, value] : values) {
    if (key != kArchitectureKey) header.PutPair(key, value);
  }
  uint64_t offset = 0;
  for (const GgufTensorPlan& tensor : tensors) {
    header.PutString(tensor.name);
    header.Put(static_cast<uint32_t>(tensor.rank));
    // The file lists the innermost dimension first.
    for (int i = tensor.rank - 1; i >= 0; --i) header.Put(static_cast<uint64_t>(tensor.shape[static_cast<size_t>(i)]));
    header.Put(GgmlTypeOf(tensor.dtype).number);
    header.Put(offset);
    offset += Aligned(tensor.size_bytes());
  }
  header.Pad();
  return header.bytes();
}

}  // namespace

size_t GgufTensorPlan::size_bytes() const {
  const TensorInfo info{.dtype = dtype, .rank = rank, .shape = shape};
  return info.num_elements() == 0 ? 0 : info.size_bytes();
}

Result<GgufWriter> GgufWriter::Create(const std::string& path,
                                      const std::map<std::string, GgufValue, std::less<>>& values,
                                      std::vector<GgufTensorPlan> tensors) {
  ADIT_RETURN_IF_ERROR(CheckNames(path, values, tensors));
  ADIT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path, "gguf"));
  const std::string header = HeaderBytes(values, tensors);
  ADIT_RETURN_IF_ERROR(file.Write(header.data(), header.size()));
  return GgufWriter(std::move(file), std::move(tensors));
}

Status GgufWriter::Append(std::span<const std::byte> bytes) {
  if (!file_.is_open()) return FailedPrecondition("gguf: {}: appended to after it was finished", file_.path());
  if (bytes.empty()) return Status();
  const size_t left = current_ < tensors_.size() ? tensors_[current_].size_bytes() - written_bytes_ : 0;
  if (bytes.size() > left) {
    return FailedPrecondition("gguf: {}: {} bytes appended, tensor {} has room for {}", file_.path(), bytes.size(),
                              current_ < tensors_.size() ? tensors_[current_].name : "none", left);
  }
  ADIT_RETURN_IF_ERROR(file_.Write(bytes.data(), bytes.size()));
  written_bytes_ += bytes.size();
  if (bytes.size() < left) return Status();
  constexpr std::byte kPadding[kAlignment] = {};
  ADIT_RETURN_IF_ERROR(file_.Write(kPadding, Aligned(written_bytes_) - written_bytes_));
  ++current_;
  written_bytes_ = 0;
  return Status();
}

Status GgufWriter::Finish() {
  if (!file_.is_open()) return FailedPrecondition("gguf: {}: finished twice", file_.path());
  if (current_ < tensors_.size()) {
    return FailedPrecondition("gguf: {}: tensor {} is not complete", file_.path(), tensors_[current_].name);
  }
  return file_.Finish();
}

}  // namespace adit::formats
