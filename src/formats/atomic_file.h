#ifndef ADIT_FORMATS_ATOMIC_FILE_H_
#define ADIT_FORMATS_ATOMIC_FILE_H_

#include <cstddef>
#include <string>

#include "adit/status.h"

namespace adit::formats {

// A file that appears under its name whole or not at all: until Finish the bytes go to a file beside it, which is
// removed if the writer dies before. Links are followed, so that a link stays one. Where the path names something that
// is no regular file (a pipe, /dev/null), the bytes go straight to it. Movable; one thread at a time.
class AtomicFile {
 public:
  // `format` begins messages: "safetensors". InvalidArgument for a folder, Io when the system refuses.
  static Result<AtomicFile> Create(const std::string& path, std::string format);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  const std::string& path() const { return path_; }
  bool is_open() const { return fd_ >= 0; }
  Status Write(const void* data, size_t size_bytes);
  // Where the next bytes go, from the beginning of the file; a gap that stays is zeros. Io for a pipe.
  Status Seek(size_t offset_bytes);
  // Puts the file in its place. Precondition: is_open(), which it ends.
  Status Finish();

 private:
  AtomicFile() = default;
  Status OpenTarget(const std::string& path);
  Status SystemError(const char* what) const;
  void Abandon() noexcept;

  std::string format_;
  std::string path_;            // links followed
  std::string temporary_path_;  // empty when the bytes go straight to path_
  int fd_ = -1;
};

}  // namespace adit::formats

#endif  // ADIT_FORMATS_ATOMIC_FILE_H_
