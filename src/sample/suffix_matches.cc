#include "sample/suffix_matches.h"

#include <algorithm>

namespace adit::sample {

void FindSuffixMatches(const History& history, int64_t window, int64_t limit, std::vector<int32_t>& matches) {
  matches.resize(static_cast<size_t>(window));
  // Places are counted from the end. Those from left to right - 1 are known to equal those from 0 on, with the largest
  // right so far: what has been found out about the latter holds for the former too.
  int64_t left = 0;
  int64_t right = 0;
  for (int64_t k = 1; k < window; ++k) {
    int64_t length = k < right ? std::min<int64_t>(matches[static_cast<size_t>(k - left)], right - k) : 0;
    if (k + length >= right) {
      while (length < limit && k + length < window && history.FromEnd(length) == history.FromEnd(k + length)) ++length;
      left = k;
      right = k + length;
    }
    matches[static_cast<size_t>(k)] = static_cast<int32_t>(length);
  }
}

}  // namespace adit::sample
