#include "formats/gguf.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "formats/gguf_header_internal.h"
#include "formats/gguf_split_internal.h"
#include "formats/mapped_file.h"
#include "formats/quoted.h"

namespace adit::formats {
namespace {

constexpr int64_t kDefaultAlignment = 32;
// The specification wants a multiple of 8. No writer goes beyond a page; 2 MiB leaves room for huge ones.
constexpr int64_t kMinAlignment = 8;
constexpr int64_t kMaxAlignment = int64_t{2} << 20;

Result<size_t> ReadAlignment(const GgufMetadata& metadata) {
  ADIT_ASSIGN_OR_RETURN(const int64_t alignment, metadata.IntOr("general.alignment", kDefaultAlignment));
  if (alignment < kMinAlignment || alignment > kMaxAlignment ||
      !std::has_single_bit(static_cast<uint64_t>(alignment))) {
    return Corrupt("gguf: {}: key 'general.alignment' is {}, wanted a power of two from {} to {}", metadata.path(),
                   alignment, kMinAlignment, kMaxAlignment);
  }
  return static_cast<size_t>(alignment);
}

// The part of the file that holds tensor data; empty when there are no tensors.
Result<std::span<const std::byte>> DataSection(const GgufHeader& header, size_t alignment,
                                               std::span<const std::byte> file) {
  if (header.tensors.empty()) return std::span<const std::byte>();
  const size_t begin = (header.end + alignment - 1) / alignment * alignment;
  if (begin > file.size()) {
    return Corrupt("gguf: {}: the data of {} tensors would start at byte {}, the file ends at {}",
                   header.metadata.path(), header.tensors.size(), begin, file.size());
  }
  return file.subspan(begin);
}

// Every tensor lies in the data section, aligned, and none overlaps another.
Status CheckPlaces(const GgufHeader& header, size_t alignment, size_t data_bytes) {
  const std::string& path = header.metadata.path();
  std::vector<const GgufTensorEntry*> by_offset;
  by_offset.reserve(header.tensors.size());
  for (const GgufTensorEntry& tensor : header.tensors) {
    if (tensor.offset % alignment != 0) {
      return Corrupt("gguf: {}: tensor {}: offset {} is not a multiple of the alignment {}", path, Quoted(tensor.name),
                     tensor.offset, alignment);
    }
    if (tensor.offset > data_bytes || tensor.size_bytes > data_bytes - tensor.offset) {
      return Corrupt("gguf: {}: tensor {}: offset {} + {} bytes exceeds the {} bytes of the data section", path,
                     Quoted(tensor.name), tensor.offset, tensor.size_bytes, data_bytes);
    }
    by_offset.push_back(&tensor);
  }
  std::sort(by_offset.begin(), by_offset.end(),
            [](const GgufTensorEntry* a, const GgufTensorEntry* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < by_offset.size(); ++i) {
    const GgufTensorEntry& before = *by_offset[i - 1];
    const GgufTensorEntry& tensor = *by_offset[i];
    if (tensor.offset - before.offset < before.size_bytes) {
      return Corrupt("gguf: {}: tensor {} at offset {} overlaps tensor {} of {} bytes at offset {}", path,
                     Quoted(tensor.name), tensor.offset, Quoted(before.name), before.size_bytes, before.offset);
    }
  }
  return Status();
}

class OpenGguf final : public GgufFile {
 public:
  // The header must have passed CheckPlaces() against `data`.
  OpenGguf(std::optional<MappedFile> file, size_t size_bytes, GgufHeader header, std::span<const std::byte> data)
      : file_(std::move(file)),
        size_bytes_(size_bytes),
        header_bytes_(size_bytes - data.size()),
        header_(std::move(header)) {
    tensors_.reserve(header_.tensors.size());
    for (const GgufTensorEntry& entry : header_.tensors) {
      index_.emplace(entry.name, tensors_.size());
      const std::span<const std::byte> bytes =
          data.subspan(static_cast<size_t>(entry.offset), static_cast<size_t>(entry.size_bytes));
      TensorInfo tensor{.name = entry.name, .rank = entry.rank, .shape = entry.shape};
      if (entry.type->dtype) {
        tensor.dtype = *entry.type->dtype;
        tensor.data = bytes;
      } else {
        tensor.stored_type = entry.type->name;
      }
      tensors_.push_back(tensor);
      stored_.push_back(bytes);
    }
  }

  const TensorInfo* Find(std::string_view name) const override {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
  }
  std::span<const TensorInfo> tensors() const override { return tensors_; }
  const std::string& path() const override { return header_.metadata.path(); }
  void Release(std::span<const std::byte> bytes) const override {
    if (file_ && file_->Contains(bytes)) file_->Release(bytes);
  }
  void ReadRows(const TensorInfo& tensor, int64_t first_row, int64_t num_rows, std::byte* out) const override {
    if (!tensor.is_computed()) return WeightSource::ReadRows(tensor, first_row, num_rows, out);
    const auto index = static_cast<size_t>(&tensor - tensors_.data());
    const GgmlType& type = *header_.tensors[index].type;
    const int64_t first = first_row * tensor.row_elements();
    const int64_t count = num_rows * tensor.row_elements();
    const std::span<const std::byte> from = stored_[index].subspan(static_cast<size_t>(first * type.element_bytes),
                                                                   static_cast<size_t>(count * type.element_bytes));
    type.decode(from.data(), reinterpret_cast<float*>(out), count);
    Release(from);
  }
  const GgufMetadata& metadata() const override { return header_.metadata; }
  uint32_t version() const override { return header_.version; }
  std::string Format() const override { return fmt::format("GGUF version {}", header_.version); }
  size_t size_bytes() const override { return size_bytes_; }
  void ReleaseHeader() const override {
    if (file_) file_->Release(file_->bytes().first(header_bytes_));
  }

 private:
  void Copy(std::span<const std::byte> bytes, std::byte* out) const override {
    file_ ? file_->Copy(bytes, out) : GgufFile::Copy(bytes, out);
  }

  // Constant after construction.
  std::optional<MappedFile> file_;  // none over bytes in memory
  size_t size_bytes_;
  size_t header_bytes_;  // before the data of the tensors
  GgufHeader header_;
  std::vector<TensorInfo> tensors_;                 // names are views of header_.tensors
  std::vector<std::span<const std::byte>> stored_;  // of each tensor, as it lies in the file
  std::unordered_map<std::string_view, size_t> index_;
};

}  // namespace

Result<std::unique_ptr<GgufFile>> ParseGgufPart(std::optional<MappedFile> mapped, std::span<const std::byte> bytes,
                                                const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(GgufHeader header, ReadGgufHeader(bytes, path));
  ADIT_ASSIGN_OR_RETURN(const size_t alignment, ReadAlignment(header.metadata));
  ADIT_ASSIGN_OR_RETURN(const std::span<const std::byte> data, DataSection(header, alignment, bytes));
  ADIT_RETURN_IF_ERROR(CheckPlaces(header, alignment, data.size()));
  return std::unique_ptr<GgufFile>(
      std::make_unique<OpenGguf>(std::move(mapped), bytes.size(), std::move(header), data));
}

Result<std::unique_ptr<GgufFile>> GgufFile::Open(const std::string& path) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<GgufFile> file, OpenGgufPart(path));
  ADIT_ASSIGN_OR_RETURN(const int64_t count, file->metadata().IntOr("split.count", 1));
  if (count <= 1) return file;
  return OpenSplitGguf(path, count);
}

// A model in several files would lack the tensors of the others.
Result<std::unique_ptr<GgufFile>> GgufFile::Parse(std::span<const std::byte> bytes, const std::string& name) {
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<GgufFile> file, ParseGgufPart(std::nullopt, bytes, name));
  ADIT_ASSIGN_OR_RETURN(const int64_t count, file->metadata().IntOr("split.count", 1));
  if (count <= 1) return file;
  return Unsupported("gguf: {}: one of {} files of a split model (key 'split.count')", name, count);
}

}  // namespace adit::formats
