#include "cli/progress_bar.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/env.h"

namespace adit::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBetweenDraws{100};
constexpr int kBarWidth = 40;

// To the start of the line, which is then cleared.
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

std::string ProgressLine(std::string_view label, double share, std::string_view detail) {
  share = std::clamp(share, 0.0, 1.0);
  const auto done = static_cast<size_t>(share * kBarWidth);
  return fmt::format("{}  [{}{}] {:3.0f} %{}{}", label, std::string(done, '#'), std::string(kBarWidth - done, ' '),
                     share * 100, detail.empty() ? "" : "  ", detail);
}

ProgressBar::ProgressBar(Output& out, std::string_view label, milliseconds delay)
    : out_(out),
      label_(label),
      enabled_(out.is_terminal() && !env::PlainTerminal()),
      next_draw_(Clock::now() + delay) {}

ProgressBar::~ProgressBar() {
  if (drawn_) (void)out_.Write(kClearLine);
}

void ProgressBar::Update(double share, std::string_view detail) {
  const Clock::time_point now = Clock::now();
  if (!enabled_ || now < next_draw_) return;
  next_draw_ = now + kBetweenDraws;
  drawn_ = true;
  (void)out_.Write(std::string(kClearLine) + ProgressLine(label_, share, detail));
}

}  // namespace adit::cli
