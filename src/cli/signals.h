#ifndef ADIT_CLI_SIGNALS_H_
#define ADIT_CLI_SIGNALS_H_

#include <csignal>
#include <initializer_list>
#include <vector>

namespace adit::cli {

// While one lives, the signals (SIGINT is Ctrl-C) are noted instead of ending the program. A second one before the
// first has been cleared ends it at once, with 128 + its number. Without one, signals do what they did before. One at a
// time.
class InterruptScope {
 public:
  explicit InterruptScope(std::initializer_list<int> signals = {SIGINT});
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct Saved {
    int signal;
    struct sigaction action;
  };
  std::vector<Saved> saved_;
};

// The number of the signal noted and not yet cleared, or 0. Any thread.
int PendingInterrupt();
void ClearInterrupt();

// A descriptor that can be read while a signal is pending, for poll. Never read from it: ClearInterrupt does.
// Requires a living InterruptScope.
int InterruptDescriptor();

}  // namespace adit::cli

#endif  // ADIT_CLI_SIGNALS_H_
