#ifndef ADIT_SCHED_TIMELINE_H_
#define ADIT_SCHED_TIMELINE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sched/scheduler.h"

namespace adit::sched {

// What an engine did for a while: through one step, or between two looks at it.
struct LoadSample {
  int64_t running = 0;  // sequences
  int64_t waiting = 0;
  PageUse pages;
  int64_t prompt_tokens = 0;  // computed in that time
  int64_t output_tokens = 0;
};

// Means of a stretch of time.
struct TimelinePoint {
  double begin_s = 0.0;
  double end_s = 0.0;
  double running = 0.0;
  double waiting = 0.0;
  double used_share = 0.0;    // of the pages, held by running sequences
  double cached_share = 0.0;  // of the pages, held by the prefix cache alone
  double prompt_tokens_per_s = 0.0;
  double output_tokens_per_s = 0.0;
};

// How pages were used while something ran.
struct PageUseSummary {
  double mean_utilisation = 0.0;  // share of the pages held by running sequences, mean over time
  double max_utilisation = 0.0;
  double mean_waste = 0.0;     // share of the token places held but not written, mean over places and time
  double waste_at_peak = 0.0;  // the same at the moment when most places were held
};

// Follows the load over time in at most kMaxPoints stretches of equal length, however long it takes: when they are
// full, two and two become one. Amortised constant time for each sample.
class Timeline {
 public:
  static constexpr size_t kMaxPoints = 512;

  // From begin_s to end_s, seconds since the start; a later sample begins no earlier than the last one ended.
  void Add(double begin_s, double end_s, const LoadSample& sample);

  // Times that no sample covers count as empty.
  std::vector<TimelinePoint> Points() const;
  PageUseSummary pages() const;
  double mean_running() const { return busy_s_ > 0.0 ? running_seconds_ / busy_s_ : 0.0; }
  int64_t max_running() const { return max_running_; }
  int64_t max_waiting() const { return max_waiting_; }

 private:
  // Integrals over time of what lies in one stretch.
  struct Stretch {
    double running = 0.0;
    double waiting = 0.0;
    double used = 0.0;
    double cached = 0.0;
    double prompt_tokens = 0.0;
    double output_tokens = 0.0;
  };
  void Halve();
  void NoteTotals(double seconds, const LoadSample& sample);

  double width_s_ = 1e-3;
  double end_s_ = 0.0;
  std::vector<Stretch> stretches_;

  // Over the time in which something ran.
  double busy_s_ = 0.0;
  double running_seconds_ = 0.0;
  double used_seconds_ = 0.0;
  double held_seconds_ = 0.0;
  double written_seconds_ = 0.0;
  double max_used_ = 0.0;
  int64_t most_held_ = 0;
  double waste_at_peak_ = 0.0;
  int64_t max_running_ = 0;
  int64_t max_waiting_ = 0;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_TIMELINE_H_
