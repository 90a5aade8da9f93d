#ifndef ADIT_SAMPLE_TYPICAL_P_H_
#define ADIT_SAMPLE_TYPICAL_P_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Keeps the smallest set of the most typical candidates whose probability reaches typical_p: those whose surprise -log
// p differs least from the entropy, by the softmax of the logits at hand; of equal ones, those with the lower ids. At
// least one stays, but the best need not (Meister et al. 2022). Null when typical_p is off.
std::unique_ptr<Processor> MakeTypicalP(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TYPICAL_P_H_
