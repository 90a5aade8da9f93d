#ifndef ADIT_FORMATS_SAFETENSORS_H_
#define ADIT_FORMATS_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "adit/status.h"
#include "formats/mapped_file.h"
#include "formats/safetensors_type.h"

namespace adit::formats {

// A tensor of a safetensors file. Row-major, outermost dimension first.
struct SafetensorsTensor {
  std::string name;
  const SafetensorsType* type = nullptr;
  std::vector<int64_t> shape;       // empty: a scalar
  std::span<const std::byte> data;  // within the mapped file; holds exactly the shape; not necessarily aligned

  int64_t num_elements() const {
    int64_t product = 1;
    for (const int64_t size : shape) product *= size;
    return product;
  }
};

// One safetensors file, memory-mapped read-only. Format: docs/formats/safetensors.md. Open checks every size and range
// before it is used: each tensor's data lies inside the file, holds exactly its shape, and no byte of the file belongs
// to two tensors or to none. Immutable.
class SafetensorsFile {
 public:
  // NotFound, InvalidArgument (a directory) or Io when the file cannot be read, Corrupt when it breaks the format,
  // Unsupported for an element type that this build does not read, ResourceExhausted for a header beyond the limits.
  static Result<SafetensorsFile> Open(const std::string& path);
  // The same over bytes in memory, which must outlive the object. For tests and fuzzing.
  static Result<SafetensorsFile> Parse(std::span<const std::byte> bytes, const std::string& name);

  const std::string& path() const { return path_; }
  size_t size_bytes() const { return size_bytes_; }
  // In the order of the header.
  std::span<const SafetensorsTensor> tensors() const { return tensors_; }
  // As WeightSource::Release; bytes that are not of this file are left alone.
  void Release(std::span<const std::byte> bytes) const;
  // Copies `bytes` to `out` by reading the file, as MappedFile::Copy; false when they are not this file's.
  bool Copy(std::span<const std::byte> bytes, std::byte* out) const;

 private:
  SafetensorsFile() = default;

  std::optional<MappedFile> file_;  // none over bytes in memory
  std::string path_;
  size_t size_bytes_ = 0;
  std::vector<SafetensorsTensor> tensors_;
};

// All weights of a folder: model.safetensors, or the files that model.safetensors.index.json lists. Immutable.
class SafetensorsFolder {
 public:
  // No weights.
  SafetensorsFolder() = default;
  // Errors as SafetensorsFile::Open; NotFound when the folder has neither file, Corrupt when the index and the files
  // disagree.
  static Result<SafetensorsFolder> Open(const std::string& folder);

  struct Place {
    const SafetensorsFile* file = nullptr;
    const SafetensorsTensor* tensor = nullptr;
  };

  std::span<const SafetensorsFile> files() const { return files_; }
  // Of the tensor of that name; both null when there is none.
  Place Find(std::string_view name) const;
  size_t size_bytes() const;

 private:
  Status Index();

  std::vector<SafetensorsFile> files_;
  std::unordered_map<std::string_view, Place> places_;  // keys are views of the tensors' names
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_SAFETENSORS_H_
