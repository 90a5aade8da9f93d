#include "formats/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace adit::formats {
namespace {

// `path` with links followed where it exists, so that a link stays one when the file behind it is replaced.
std::string FollowLinks(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

}  // namespace

Status AtomicFile::SystemError(const char* what) const {
  return Io("{}: {}: cannot {}: {}", format_, path_, what, std::strerror(errno));
}

Status AtomicFile::OpenTarget(const std::string& path) {
  path_ = FollowLinks(path);
  struct stat info = {};
  if (::stat(path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    if (S_ISDIR(info.st_mode)) return InvalidArgument("{}: {} is a folder, wanted the name of a file", format_, path);
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ >= 0 ? Status() : SystemError("open for writing");
  }
  // A name that nobody has: the process id, and a number in case another writer of this process has the same target.
  for (int i = 0; fd_ < 0 && i < 100; ++i) {
    temporary_path_ = fmt::format("{}.{}-{}.tmp", path_, ::getpid(), i);
    fd_ = ::open(temporary_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ >= 0) return Status();
  temporary_path_.clear();
  return SystemError("create a file beside it");
}

Result<AtomicFile> AtomicFile::Create(const std::string& path, std::string format) {
  AtomicFile file;
  file.format_ = std::move(format);
  ADIT_RETURN_IF_ERROR(file.OpenTarget(path));
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept { *this = std::move(other); }

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    Abandon();
    format_ = std::move(other.format_);
    path_ = std::move(other.path_);
    temporary_path_ = std::exchange(other.temporary_path_, std::string());
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

AtomicFile::~AtomicFile() { Abandon(); }

void AtomicFile::Abandon() noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
  temporary_path_.clear();
}

Status AtomicFile::Write(const void* data, size_t size_bytes) {
  const char* next = static_cast<const char*>(data);
  while (size_bytes > 0) {
    const ssize_t written = ::write(fd_, next, size_bytes);
    if (written < 0) {
      if (errno == EINTR) continue;
      return SystemError("write");
    }
    next += written;
    size_bytes -= static_cast<size_t>(written);
  }
  return Status();
}

Status AtomicFile::Seek(size_t offset_bytes) {
  if (::lseek(fd_, static_cast<off_t>(offset_bytes), SEEK_SET) < 0) return SystemError("seek");
  return Status();
}

Status AtomicFile::Finish() {
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0) return SystemError("write");
  if (temporary_path_.empty()) return Status();
  if (std::rename(temporary_path_.c_str(), path_.c_str()) != 0) return SystemError("put in its place");
  temporary_path_.clear();
  return Status();
}

}  // namespace adit::formats
