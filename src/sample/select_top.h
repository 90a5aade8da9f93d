#ifndef ADIT_SAMPLE_SELECT_TOP_H_
#define ADIT_SAMPLE_SELECT_TOP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sample/candidates.h"

namespace adit::sample {

// The `k` best of a row in one pass, without sorting the row. `out` becomes min(k, number that can be picked) long; its
// memory is used again, and 2 * k + 64 elements are all it ever needs. NaN and -inf are left out.
// SelectTop puts the best first; SelectTopUnordered puts the last of them last and the others anywhere.
void SelectTop(std::span<const float> logits, int64_t k, std::vector<Ranked>& out);
void SelectTopUnordered(std::span<const float> logits, int64_t k, std::vector<Ranked>& out);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_SELECT_TOP_H_
