#include "formats/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace adit::formats {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

std::string ErrorText(int error) { return std::generic_category().message(error); }

}  // namespace

Result<MappedFile> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK keeps the open of a FIFO from waiting for a writer; regular files ignore it.
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return NotFound("cannot open '{}': no such file", path);
    return Io("cannot open '{}': {}", path, ErrorText(error));
  }
  struct stat info;
  if (fstat(file.get(), &info) != 0) return Io("cannot read the size of '{}': {}", path, ErrorText(errno));
  if (S_ISDIR(info.st_mode)) return InvalidArgument("cannot read '{}': it is a directory, wanted a file", path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument("cannot read '{}': it is not a regular file", path);
  if (info.st_size == 0) return Corrupt("cannot read '{}': the file is empty", path);

  const auto size_bytes = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return Io("cannot map the {} bytes of '{}': {}", size_bytes, path, ErrorText(errno));
  return MappedFile(file.Take(), static_cast<const std::byte*>(data), size_bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(const_cast<std::byte*>(data_), size_bytes_);
  if (fd_ >= 0) close(fd_);
}

bool MappedFile::Contains(std::span<const std::byte> range) const {
  const std::less_equal<const std::byte*> not_after;
  return not_after(data_, range.data()) && not_after(range.data() + range.size(), data_ + size_bytes_);
}

void MappedFile::Release(std::span<const std::byte> range) const {
  if (range.empty()) return;
  ADIT_DCHECK(range.data() >= data_ && range.data() + range.size() <= data_ + size_bytes_);
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(range.data());
  const uintptr_t first_page = (begin + page_bytes - 1) / page_bytes * page_bytes;
  uintptr_t end = begin + range.size();
  // The mapping covers the file's last page whole, so a range up to the end of the file may drop it.
  const bool reaches_end = end == reinterpret_cast<uintptr_t>(data_) + size_bytes_;
  end = reaches_end ? (end + page_bytes - 1) / page_bytes * page_bytes : end / page_bytes * page_bytes;
  if (first_page >= end) return;
  // Advice only: when it fails the pages stay, which is harmless.
  madvise(reinterpret_cast<void*>(first_page), end - first_page, MADV_DONTNEED);
}

void MappedFile::Copy(std::span<const std::byte> range, std::byte* out) const {
  ADIT_DCHECK(Contains(range));
  size_t done = 0;
  while (done < range.size()) {
    const ssize_t count = pread(fd_, out + done, range.size() - done,
                                static_cast<off_t>(range.data() - data_ + static_cast<ptrdiff_t>(done)));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    done += static_cast<size_t>(count);
  }
  // What cannot be read cannot be mapped either, and ends the process as it does for every reader of the mapping.
  if (done < range.size()) std::memcpy(out + done, range.data() + done, range.size() - done);
}

bool FileExists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace adit::formats
