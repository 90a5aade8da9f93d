#ifndef ADIT_SAMPLE_MIN_P_H_
#define ADIT_SAMPLE_MIN_P_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Keeps the candidates whose probability is at least min_p times that of the best: logits from max + log(min_p) up.
// Null when min_p is off.
std::unique_ptr<Processor> MakeMinP(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_MIN_P_H_
