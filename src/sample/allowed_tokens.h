#ifndef ADIT_SAMPLE_ALLOWED_TOKENS_H_
#define ADIT_SAMPLE_ALLOWED_TOKENS_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Drops tokens other than allowed_token_ids. Works on a list that has lost none, and may leave none that can be picked.
// Null when all are allowed.
std::unique_ptr<Processor> MakeAllowedTokens(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_ALLOWED_TOKENS_H_
