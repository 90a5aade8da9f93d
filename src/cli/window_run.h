#ifndef ADIT_CLI_WINDOW_RUN_H_
#define ADIT_CLI_WINDOW_RUN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "adit/status.h"

namespace adit::cli {

// Tokens of a window where nobody says, as in llama.cpp's tools.
inline constexpr int64_t kDefaultWindow = 512;

// Calls `run` for each of `count` windows of a text, or items, with a progress bar that says `doing`. Cancelled when a
// signal comes; requires a living InterruptScope.
Status ForWindows(int64_t count, const std::string& doing, const std::function<Status(int64_t window)>& run);

// What a command ends with whose work ended so: the code of the signal where one ended it.
Result<int> Ended(const Status& status);

}  // namespace adit::cli

#endif  // ADIT_CLI_WINDOW_RUN_H_
