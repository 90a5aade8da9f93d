#ifndef ADIT_SCHED_DISTRIBUTION_SUMMARY_H_
#define ADIT_SCHED_DISTRIBUTION_SUMMARY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace adit::sched {

// Of some measured values; all 0 when there are none.
struct Spread {
  int64_t count = 0;
  double mean = 0.0;
  double p50 = 0.0;
  double p90 = 0.0;
  double p99 = 0.0;
  double max = 0.0;
};

// The value below which a share `q`, 0..1, of the values lies: linear between the two that are nearest in rank, at
// position q * (n - 1) from the least (numpy's default; Hyndman and Fan's type 7). Changes the order of `values`.
// Precondition: there is one. Expected time O(n).
double Percentile(std::span<float> values, double q);

// Changes the order of `values`. Sums in f64, in the order given.
Spread SpreadOf(std::span<float> values);

// Counts of times by size, in steps of a twentieth of a decade from 1 microsecond to 10,000 seconds. What lies outside
// counts at the nearer end.
class TimeHistogram {
 public:
  static constexpr int kBinsPerDecade = 20;
  static constexpr int kFirstDecade = -6;
  static constexpr int kNumDecades = 10;
  static constexpr size_t kNumBins = size_t{kBinsPerDecade} * kNumDecades;

  void Add(double seconds);

  int64_t count() const { return count_; }
  // [kNumBins].
  std::span<const int64_t> bins() const { return bins_; }
  // The least time of bin `bin`, in seconds; of kNumBins, the end of the last.
  static double LowerEdge(size_t bin);

 private:
  std::array<int64_t, kNumBins> bins_{};
  int64_t count_ = 0;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_DISTRIBUTION_SUMMARY_H_
