#ifndef ADIT_CLI_PROGRESS_BAR_H_
#define ADIT_CLI_PROGRESS_BAR_H_

#include <chrono>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace adit::cli {

// A bar for what takes longer than a second, drawn over itself on a terminal and taken away at the end. Draws nothing
// elsewhere.
class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;

  // `label` says what is going on: "Loading". `out` outlives the bar. Nothing is drawn before `delay` has passed.
  ProgressBar(Output& out, std::string_view label, std::chrono::milliseconds delay = std::chrono::seconds(1));
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `share` of the work is done, 0 to 1; `detail` stands behind the bar. Draws at most ten times a second. One thread
  // at a time.
  void Update(double share, std::string_view detail = {});

 private:
  Output& out_;
  const std::string label_;
  const bool enabled_;
  Clock::time_point next_draw_;
  bool drawn_ = false;
};

// "Loading  [#####     ]  50 %", with two spaces and `detail` behind it if there is one.
std::string ProgressLine(std::string_view label, double share, std::string_view detail = {});

}  // namespace adit::cli

#endif  // ADIT_CLI_PROGRESS_BAR_H_
