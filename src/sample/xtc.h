#ifndef ADIT_SAMPLE_XTC_H_
#define ADIT_SAMPLE_XTC_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// With xtc_probability, by a random number of its own for each seed and position: drops the candidates whose
// probability, by the softmax of the logits at hand, is at least xtc_threshold, all but the one that ranks last among
// them; so with fewer than two it drops nothing. Null when off: a probability of 0, or a threshold above 0.5, which two
// cannot reach.
std::unique_ptr<Processor> MakeXtc(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_XTC_H_
