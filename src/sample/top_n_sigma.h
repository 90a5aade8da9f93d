#ifndef ADIT_SAMPLE_TOP_N_SIGMA_H_
#define ADIT_SAMPLE_TOP_N_SIGMA_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Keeps the candidates whose logit is at least max - top_n_sigma * sigma, where sigma is the standard deviation of the
// logits that can be picked, with their number as its divisor (Tang et al. 2024). The set does not depend on the
// temperature. Null when top_n_sigma is off.
std::unique_ptr<Processor> MakeTopNSigma(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TOP_N_SIGMA_H_
