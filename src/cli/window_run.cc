#include "cli/window_run.h"

#include <fmt/core.h>

#include "base/error.h"
#include "cli/exit_code.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "cli/signals.h"

namespace adit::cli {

Status ForWindows(int64_t count, const std::string& doing, const std::function<Status(int64_t window)>& run) {
  ProgressBar bar(Stderr(), doing);
  for (int64_t window = 0; window < count; ++window) {
    if (PendingInterrupt() != 0) return Cancelled("interrupted");
    ADIT_RETURN_IF_ERROR(run(window));
    bar.Update(static_cast<double>(window + 1) / static_cast<double>(count),
               fmt::format("{} of {}", window + 1, count));
  }
  return Status();
}

Result<int> Ended(const Status& status) {
  if (status.code() == StatusCode::kCancelled) return kExitSignalBase + PendingInterrupt();
  if (!status.ok()) return status;
  return kExitOk;
}

}  // namespace adit::cli
