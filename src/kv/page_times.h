#ifndef ADIT_KV_PAGE_TIMES_H_
#define ADIT_KV_PAGE_TIMES_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/histogram.h"

namespace adit::kv {

// Bounds of the classes that times of pages are counted in, in seconds; those of vLLM.
inline constexpr std::array<double, 21> kPageSecondBounds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1,
                                                             0.2,   0.5,   1.0,   2.0,  5.0,  10.0, 20.0,
                                                             30.0,  60.0,  120.0, 300., 600., 1200, 1800};

// Of the pages of a cache, in seconds.
struct PageTimeStats {
  Histogram<kPageSecondBounds> lifetime;  // from its coming to its eviction
  Histogram<kPageSecondBounds> idle;      // from its last use to its eviction
  Histogram<kPageSecondBounds> reuse;     // from one use to the next by another sequence
};

// Notes when pages come, are used and go. Constant time for each. One thread at a time.
class PageTimes {
 public:
  explicit PageTimes(int32_t num_pages) : pages_(static_cast<size_t>(num_pages)) {}

  // What follows happens at that time, or at the last one if that is later.
  void AdvanceTo(double now_s) { now_s_ = std::max(now_s_, now_s); }

  void Come(int32_t page) { pages_[static_cast<size_t>(page)] = {.came_s = now_s_, .used_s = now_s_}; }
  // A sequence that has used it ends.
  void EndUse(int32_t page) { pages_[static_cast<size_t>(page)].used_s = now_s_; }
  // Another sequence begins to use it.
  void Reuse(int32_t page) {
    Page& used = pages_[static_cast<size_t>(page)];
    stats_.reuse.Observe(now_s_ - used.used_s);
    used.used_s = now_s_;
  }
  void Evict(int32_t page) {
    const Page& gone = pages_[static_cast<size_t>(page)];
    stats_.lifetime.Observe(now_s_ - gone.came_s);
    stats_.idle.Observe(now_s_ - gone.used_s);
  }

  const PageTimeStats& stats() const { return stats_; }

 private:
  struct Page {
    double came_s = 0.0;
    double used_s = 0.0;
  };

  double now_s_ = 0.0;
  std::vector<Page> pages_;
  PageTimeStats stats_;
};

}  // namespace adit::kv

#endif  // ADIT_KV_PAGE_TIMES_H_
