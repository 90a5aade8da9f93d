#ifndef ADIT_SAMPLE_TOP_P_H_
#define ADIT_SAMPLE_TOP_P_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Keeps the smallest set of best candidates whose probability, by the softmax of the logits at hand, reaches top_p; of
// equal ones, those with the lower ids. At least one stays. Null when top_p is off.
std::unique_ptr<Processor> MakeTopP(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TOP_P_H_
