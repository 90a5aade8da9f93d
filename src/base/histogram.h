#ifndef ADIT_BASE_HISTOGRAM_H_
#define ADIT_BASE_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace adit {

// How many values lie in each of the classes that `kBounds`, an array of rising numbers, makes, and their sum: what
// Prometheus calls a histogram. A plain value of fixed size, so that counting and copying allocate nothing.
template <const auto& kBounds>
struct Histogram {
  // [i]: values above bound i - 1 and no more than bound i; the last: above all bounds.
  std::array<int64_t, kBounds.size() + 1> counts = {};
  double sum = 0.0;

  void Observe(double value) {
    const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), value);
    ++counts[static_cast<size_t>(bound - kBounds.begin())];
    sum += value;
  }
};

}  // namespace adit

#endif  // ADIT_BASE_HISTOGRAM_H_
