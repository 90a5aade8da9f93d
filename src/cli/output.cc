#include "cli/output.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/printable.h"

namespace adit::cli {
namespace {

// For when SIGPIPE was ignored by whoever started us.
[[noreturn]] void EndAsSigpipeDoes() { ::_exit(kExitSignalBase + SIGPIPE); }

}  // namespace

Output::Output(int fd, const char* name) : fd_(fd), name_(name), is_terminal_(::isatty(fd) == 1) {}

Status Output::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EPIPE) EndAsSigpipeDoes();
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      struct pollfd descriptor = {.fd = fd_, .events = POLLOUT, .revents = 0};
      ::poll(&descriptor, 1, -1);
      continue;
    }
    return Io("cannot write to {}: {}", name_, std::strerror(errno));
  }
  return Status();
}

Status Output::WriteText(std::string_view text) {
  return Write(is_terminal_ ? EscapeControls(text) : std::string(text));
}

Output& Stdout() {
  static Output output(STDOUT_FILENO, "stdout");
  return output;
}

Output& Stderr() {
  static Output output(STDERR_FILENO, "stderr");
  return output;
}

void OccupyStandardDescriptors() {
  // Opened the wrong way round: a read from stdin or a write to the others gives EBADF, as it does when they are
  // closed.
  constexpr int kWrongWay[] = {O_WRONLY, O_RDONLY, O_RDONLY};
  for (int fd = 0; fd < 3; ++fd) {
    // The lowest free number is taken, and those below are in use by now.
    if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", kWrongWay[fd]);
  }
}

}  // namespace adit::cli
