#ifndef ADIT_FORMATS_MAPPED_FILE_H_
#define ADIT_FORMATS_MAPPED_FILE_H_

#include <cstddef>
#include <span>
#include <string>

#include "adit/status.h"

namespace adit::formats {

// Whether there is something of that name.
bool FileExists(const std::string& path);

// A whole file mapped read-only, unmapped by the destructor. Movable, not copyable. Threads may share it.
// The file must not shrink while it is mapped: reading a page that is gone kills the process.
class MappedFile {
 public:
  // NotFound for a missing file, InvalidArgument for a directory or anything else that is no regular file, Corrupt for
  // an empty one, Io when the system refuses. Each names the path.
  static Result<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // At least one byte, page-aligned.
  std::span<const std::byte> bytes() const { return {data_, size_bytes_}; }
  size_t size_bytes() const { return size_bytes_; }

  // Whether `range` is a part of bytes().
  bool Contains(std::span<const std::byte> range) const;
  // Lets the pages that lie wholly inside `range`, a part of bytes(), leave memory. Reading them again reads the file.
  void Release(std::span<const std::byte> range) const;
  // Copies `range`, a part of bytes(), to `out` by reading the file, so that its pages need not enter this process's
  // memory. For what is read here and there: a mapping brings in many pages around each that is touched.
  void Copy(std::span<const std::byte> range, std::byte* out) const;

 private:
  MappedFile(int fd, const std::byte* data, size_t size_bytes) : fd_(fd), data_(data), size_bytes_(size_bytes) {}

  int fd_ = -1;
  const std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_MAPPED_FILE_H_
