#ifndef ADIT_SAMPLE_LIKELIEST_H_
#define ADIT_SAMPLE_LIKELIEST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "sample/sampler.h"

namespace adit::sample {

// The `count` likeliest tokens of a row of logits by its softmax, falling, equal ones by id; fewer where fewer have a
// probability above 0, none where no token can be picked.
std::vector<TokenLogprob> LikeliestTokens(std::span<const float> logits, int64_t count);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_LIKELIEST_H_
