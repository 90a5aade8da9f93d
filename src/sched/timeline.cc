#include "sched/timeline.h"

#include <algorithm>

#include "base/check.h"

namespace adit::sched {
namespace {

double UsedShare(const PageUse& pages) {
  if (pages.num_pages == 0) return 0.0;
  return static_cast<double>(pages.num_pages - pages.num_free - pages.num_cached) /
         static_cast<double>(pages.num_pages);
}

double CachedShare(const PageUse& pages) {
  return pages.num_pages == 0 ? 0.0 : static_cast<double>(pages.num_cached) / static_cast<double>(pages.num_pages);
}

}  // namespace

void Timeline::Add(double begin_s, double end_s, const LoadSample& sample) {
  ADIT_CHECK(begin_s >= 0.0 && end_s >= begin_s);
  if (end_s == begin_s) return;
  end_s_ = std::max(end_s_, end_s);
  while (end_s > width_s_ * static_cast<double>(kMaxPoints)) Halve();
  const auto index_of = [&](double time_s) { return std::min(kMaxPoints - 1, static_cast<size_t>(time_s / width_s_)); };
  const size_t last = index_of(end_s);
  if (stretches_.size() <= last) stretches_.resize(last + 1);
  const double used = UsedShare(sample.pages);
  const double cached = CachedShare(sample.pages);
  for (size_t i = index_of(begin_s); i <= last; ++i) {
    const double from = std::max(begin_s, static_cast<double>(i) * width_s_);
    const double to = i == last ? end_s : std::min(end_s, static_cast<double>(i + 1) * width_s_);
    const double seconds = std::max(0.0, to - from);
    const double part = seconds / (end_s - begin_s);
    Stretch& stretch = stretches_[i];
    stretch.running += seconds * static_cast<double>(sample.running);
    stretch.waiting += seconds * static_cast<double>(sample.waiting);
    stretch.used += seconds * used;
    stretch.cached += seconds * cached;
    stretch.prompt_tokens += part * static_cast<double>(sample.prompt_tokens);
    stretch.output_tokens += part * static_cast<double>(sample.output_tokens);
  }
  NoteTotals(end_s - begin_s, sample);
}

void Timeline::NoteTotals(double seconds, const LoadSample& sample) {
  max_running_ = std::max(max_running_, sample.running);
  max_waiting_ = std::max(max_waiting_, sample.waiting);
  if (sample.running == 0) return;
  const double used = UsedShare(sample.pages);
  busy_s_ += seconds;
  running_seconds_ += seconds * static_cast<double>(sample.running);
  used_seconds_ += seconds * used;
  held_seconds_ += seconds * static_cast<double>(sample.pages.held_tokens);
  written_seconds_ += seconds * static_cast<double>(sample.pages.written_tokens);
  max_used_ = std::max(max_used_, used);
  if (sample.pages.held_tokens > most_held_) {
    most_held_ = sample.pages.held_tokens;
    waste_at_peak_ = sample.pages.waste();
  }
}

void Timeline::Halve() {
  width_s_ *= 2.0;
  const size_t half = (stretches_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i) {
    const Stretch left = stretches_[2 * i];
    const Stretch right = 2 * i + 1 < stretches_.size() ? stretches_[2 * i + 1] : Stretch{};
    stretches_[i] = {.running = left.running + right.running,
                     .waiting = left.waiting + right.waiting,
                     .used = left.used + right.used,
                     .cached = left.cached + right.cached,
                     .prompt_tokens = left.prompt_tokens + right.prompt_tokens,
                     .output_tokens = left.output_tokens + right.output_tokens};
  }
  stretches_.resize(half);
}

std::vector<TimelinePoint> Timeline::Points() const {
  std::vector<TimelinePoint> points;
  for (size_t i = 0; i < stretches_.size(); ++i) {
    const double begin = static_cast<double>(i) * width_s_;
    const double end = i + 1 == stretches_.size() ? end_s_ : static_cast<double>(i + 1) * width_s_;
    const double seconds = end - begin;
    if (seconds <= 0.0) continue;
    const Stretch& stretch = stretches_[i];
    points.push_back({.begin_s = begin,
                      .end_s = end,
                      .running = stretch.running / seconds,
                      .waiting = stretch.waiting / seconds,
                      .used_share = stretch.used / seconds,
                      .cached_share = stretch.cached / seconds,
                      .prompt_tokens_per_s = stretch.prompt_tokens / seconds,
                      .output_tokens_per_s = stretch.output_tokens / seconds});
  }
  return points;
}

PageUseSummary Timeline::pages() const {
  PageUseSummary summary{.max_utilisation = max_used_, .waste_at_peak = waste_at_peak_};
  if (busy_s_ > 0.0) summary.mean_utilisation = used_seconds_ / busy_s_;
  if (held_seconds_ > 0.0) summary.mean_waste = 1.0 - written_seconds_ / held_seconds_;
  return summary;
}

}  // namespace adit::sched
