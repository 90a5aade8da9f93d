#include "cli/transfer_rate.h"

#include <fmt/core.h>

#include "cli/units.h"

namespace adit::cli {
namespace {

constexpr double kWindowS = 5.0;
constexpr double kBetweenSamplesS = 0.25;
constexpr int64_t kLongestTold = 100 * 3600;  // seconds

std::string Clock(int64_t seconds) {
  if (seconds < 3600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

}  // namespace

void TransferRate::Add(double now_s, int64_t done_bytes) {
  if (samples_.size() > 1 && now_s - samples_[samples_.size() - 2].at_s < kBetweenSamplesS) samples_.pop_back();
  samples_.push_back({.at_s = now_s, .bytes = done_bytes});
  while (samples_.size() > 2 && samples_[1].at_s < now_s - kWindowS) samples_.pop_front();
}

double TransferRate::bytes_per_s() const {
  if (samples_.size() < 2) return 0.0;
  const double seconds = samples_.back().at_s - samples_.front().at_s;
  return seconds > 0 ? static_cast<double>(samples_.back().bytes - samples_.front().bytes) / seconds : 0.0;
}

std::string TransferText(int64_t done_bytes, int64_t total_bytes, double bytes_per_s) {
  std::string text = fmt::format("{} of {}", FormatBytes(done_bytes), FormatBytes(total_bytes));
  if (bytes_per_s < 1.0) return text;
  text += fmt::format(", {}/s", FormatBytes(static_cast<int64_t>(bytes_per_s)));
  const double left_s = static_cast<double>(total_bytes - done_bytes) / bytes_per_s;
  if (left_s < static_cast<double>(kLongestTold)) text += fmt::format(", {} left", Clock(static_cast<int64_t>(left_s)));
  return text;
}

}  // namespace adit::cli
