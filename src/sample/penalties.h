#ifndef ADIT_SAMPLE_PENALTIES_H_
#define ADIT_SAMPLE_PENALTIES_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Repetition, presence and frequency penalties, in this order, as SamplingParams describes them. Token ids of the
// history that are no candidates, or no ids at all, are passed over. Takes time in the length of the history, and
// counts for each token id in scratch.counts. Null when all three are off.
std::unique_ptr<Processor> MakePenalties(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_PENALTIES_H_
