#include "cli/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "base/check.h"
#include "cli/exit_code.h"

namespace adit::cli {
namespace {

// Written by the handler. Lock-free, so a signal may come at any time; nothing else is ordered by it.
std::atomic<int> pending_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

// The handler writes a byte for whoever polls. Made once; both ends stay open to the end of the program.
int wake_pipe[2] = {-1, -1};

void NoteSignal(int signal) {
  const int saved_errno = errno;
  if (pending_signal.exchange(signal, std::memory_order_relaxed) != 0) ::_exit(kExitSignalBase + signal);
  const char byte = 0;
  (void)!::write(wake_pipe[1], &byte, 1);  // a full pipe wakes just as well
  errno = saved_errno;
}

}  // namespace

InterruptScope::InterruptScope(std::initializer_list<int> signals) {
  if (wake_pipe[0] < 0) ADIT_CHECK(::pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) == 0);
  ClearInterrupt();
  struct sigaction action = {};
  action.sa_handler = NoteSignal;
  sigemptyset(&action.sa_mask);
  for (const int signal : signals) {
    Saved& saved = saved_.emplace_back(Saved{.signal = signal, .action = {}});
    ADIT_CHECK(::sigaction(signal, &action, &saved.action) == 0);
  }
}

InterruptScope::~InterruptScope() {
  for (const Saved& saved : saved_) (void)::sigaction(saved.signal, &saved.action, nullptr);
}

int PendingInterrupt() { return pending_signal.load(std::memory_order_relaxed); }

void ClearInterrupt() {
  char bytes[16];
  while (::read(wake_pipe[0], bytes, sizeof(bytes)) > 0) {
  }
  pending_signal.store(0, std::memory_order_relaxed);
}

int InterruptDescriptor() { return wake_pipe[0]; }

}  // namespace adit::cli
