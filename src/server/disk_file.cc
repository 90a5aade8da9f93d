#include "server/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace adit::server {
namespace {

Status CannotKeep(int reason, std::string_view what) {
  // EFBIG: the system's limit on the size of files.
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) {
    return ResourceExhausted("{} cannot be kept: {}", what, std::strerror(reason));
  }
  return Io("{} cannot be kept: {}", what, std::strerror(reason));
}

// 0, or why not.
int WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) text.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

}  // namespace

Status WriteWholeFile(const std::string& path, std::string_view text, std::string_view what) {
  const std::string part = path + std::string(kUnfinishedEnding);
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  int reason = file < 0 ? errno : WriteAll(file, text);
  if (file >= 0 && ::close(file) != 0 && reason == 0) reason = errno;
  if (reason == 0 && ::rename(part.c_str(), path.c_str()) != 0) reason = errno;
  if (reason == 0) return Status();
  (void)::unlink(part.c_str());
  return CannotKeep(reason, what);
}

Status AppendToFile(const std::string& path, std::string_view text, std::string_view what) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return CannotKeep(errno, what);
  const off_t size = ::lseek(file, 0, SEEK_END);
  int reason = size < 0 ? errno : WriteAll(file, text);
  if (reason != 0 && size >= 0) (void)!::ftruncate(file, size);
  if (::close(file) != 0 && reason == 0) reason = errno;
  return reason == 0 ? Status() : CannotKeep(reason, what);
}

Result<std::string> ReadWholeFile(const std::string& path, std::string_view what) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 && errno == ENOENT) return NotFound("{}: it is not there", what);
  struct stat info = {};
  if (file < 0 || ::fstat(file, &info) != 0) {
    const int reason = errno;
    if (file >= 0) ::close(file);
    return Io("{} cannot be read: {}", what, std::strerror(reason));
  }
  std::string text(static_cast<size_t>(info.st_size), '\0');
  size_t done = 0;
  int reason = 0;
  while (done < text.size() && reason == 0) {
    const ssize_t count = ::read(file, text.data() + done, text.size() - done);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) reason = errno;
    if (count > 0) done += static_cast<size_t>(count);
  }
  ::close(file);
  if (reason != 0) return Io("{} cannot be read: {}", what, std::strerror(reason));
  text.resize(done);
  return text;
}

}  // namespace adit::server
