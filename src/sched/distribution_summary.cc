#include "sched/distribution_summary.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace adit::sched {

double Percentile(std::span<float> values, double q) {
  ADIT_CHECK(!values.empty() && q >= 0.0 && q <= 1.0);
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  const auto at = values.begin() + below;
  std::nth_element(values.begin(), at, values.end());
  const double low = *at;
  const double part = position - static_cast<double>(below);
  if (part == 0.0) return low;
  const double high = *std::min_element(at + 1, values.end());
  return low + part * (high - low);
}

Spread SpreadOf(std::span<float> values) {
  if (values.empty()) return {};
  double sum = 0.0;
  for (const float value : values) sum += value;
  return {.count = static_cast<int64_t>(values.size()),
          .mean = sum / static_cast<double>(values.size()),
          .p50 = Percentile(values, 0.5),
          .p90 = Percentile(values, 0.9),
          .p99 = Percentile(values, 0.99),
          .max = *std::max_element(values.begin(), values.end())};
}

void TimeHistogram::Add(double seconds) {
  const double place = seconds > 0.0 ? (std::log10(seconds) - kFirstDecade) * kBinsPerDecade : 0.0;
  const double bin = std::clamp(std::floor(place), 0.0, static_cast<double>(kNumBins - 1));
  ++bins_[static_cast<size_t>(bin)];
  ++count_;
}

double TimeHistogram::LowerEdge(size_t bin) {
  return std::pow(10.0, kFirstDecade + static_cast<double>(bin) / kBinsPerDecade);
}

}  // namespace adit::sched
