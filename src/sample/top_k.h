#ifndef ADIT_SAMPLE_TOP_K_H_
#define ADIT_SAMPLE_TOP_K_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Keeps the top_k best candidates; of equal ones, those with the lower ids. Null when top_k is off.
std::unique_ptr<Processor> MakeTopK(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TOP_K_H_
