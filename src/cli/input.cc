#include "cli/input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "cli/signals.h"

namespace adit::cli {
namespace {

constexpr size_t kReadBytes = size_t{1} << 16;

// read() that goes on after a signal and waits where the descriptor does not block.
ssize_t ReadSome(int fd, char* buffer, size_t size) {
  while (true) {
    const ssize_t got = ::read(fd, buffer, size);
    if (got >= 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) return got;
    if (errno != EINTR) HasInput(fd, -1);
  }
}

}  // namespace

Result<std::string> ReadAll(int fd, std::string_view name) {
  std::string text;
  while (true) {
    const size_t before = text.size();
    text.resize(before + kReadBytes);
    const ssize_t got = ReadSome(fd, text.data() + before, kReadBytes);
    text.resize(before + static_cast<size_t>(got > 0 ? got : 0));
    if (got == 0) return text;
    if (got < 0) return Io("cannot read {}: {}", name, std::strerror(errno));
    if (text.size() > kMaxInputBytes) return InvalidArgument("{} has more than {} bytes", name, kMaxInputBytes);
  }
}

Result<std::string> ReadFileOrStdin(const std::string& path) {
  if (path == "-") return ReadAll(STDIN_FILENO, "stdin");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return InvalidArgument("{}: no such file", path);
    return Io("{}: cannot open: {}", path, std::strerror(errno));
  }
  struct stat info = {};
  Result<std::string> text = ::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)
                                 ? Result<std::string>(InvalidArgument("{} is a folder, wanted a file", path))
                                 : ReadAll(fd, path);
  ::close(fd);
  return text;
}

bool HasInput(int fd, int timeout_ms) {
  struct pollfd descriptor = {.fd = fd, .events = POLLIN, .revents = 0};
  int ready = 0;
  do {
    ready = ::poll(&descriptor, 1, timeout_ms);
  } while (ready < 0 && errno == EINTR);
  return ready != 0;
}

LineReader::LineReader(int fd, size_t max_line_bytes, std::string name)
    : fd_(fd), max_line_bytes_(max_line_bytes), name_(std::move(name)) {}

Result<bool> LineReader::Fill() {
  if (at_end_) return false;
  buffer_.erase(0, begin_);
  scanned_ -= begin_;
  begin_ = 0;
  const size_t before = buffer_.size();
  buffer_.resize(before + kReadBytes);
  const ssize_t got = ReadSome(fd_, buffer_.data() + before, kReadBytes);
  const int error = errno;
  buffer_.resize(before + static_cast<size_t>(got > 0 ? got : 0));
  if (got < 0) return Io("cannot read {}: {}", name_, std::strerror(error));
  at_end_ = got == 0;
  return !at_end_;
}

Result<LineReader::Outcome> LineReader::Next(std::string& line, bool stop_on_signal) {
  bool too_long = false;
  while (true) {
    const size_t feed = buffer_.find('\n', scanned_);
    const bool whole = feed != std::string::npos;
    if (whole || (at_end_ && (begin_ < buffer_.size() || too_long))) {
      const size_t end = whole ? feed : buffer_.size();
      line.assign(buffer_, begin_, end - begin_);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      begin_ = scanned_ = whole ? end + 1 : end;
      if (too_long || line.size() > max_line_bytes_) {
        return InvalidArgument("a line has more than {} bytes", max_line_bytes_);
      }
      return Outcome::kLine;
    }
    if (at_end_) return Outcome::kEnd;
    scanned_ = buffer_.size();
    if (buffer_.size() - begin_ > max_line_bytes_) {
      too_long = true;
      begin_ = scanned_;
    }
    if (stop_on_signal) {
      struct pollfd descriptors[] = {{.fd = fd_, .events = POLLIN, .revents = 0},
                                     {.fd = InterruptDescriptor(), .events = POLLIN, .revents = 0}};
      (void)::poll(descriptors, 2, -1);
      if (PendingInterrupt() != 0) return Outcome::kInterrupted;
      if (descriptors[0].revents == 0) continue;
    }
    ADIT_RETURN_IF_ERROR(Fill().status());
  }
}

}  // namespace adit::cli
