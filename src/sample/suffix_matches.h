#ifndef ADIT_SAMPLE_SUFFIX_MATCHES_H_
#define ADIT_SAMPLE_SUFFIX_MATCHES_H_

#include <cstdint>
#include <vector>

#include "sample/history.h"

namespace adit::sample {

// For each k from 1 to `window` - 1: matches[k] = how many tokens at the end of the history equal those that stand
// before its last k tokens, looking at the last `window` tokens and counting up to `limit`. So the token k - 1 places
// before the newest followed so many tokens once that stand at the end now. Linear in `window` (the Z-function of the
// history read backwards; Gusfield 1997). matches becomes `window` long; matches[0] means nothing. Precondition: window
// <= history.size().
void FindSuffixMatches(const History& history, int64_t window, int64_t limit, std::vector<int32_t>& matches);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_SUFFIX_MATCHES_H_
