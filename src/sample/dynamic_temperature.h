#ifndef ADIT_SAMPLE_DYNAMIC_TEMPERATURE_H_
#define ADIT_SAMPLE_DYNAMIC_TEMPERATURE_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Divides logits by a temperature that follows from their entropy H: low + (high - low) * (H / log
// n)^dynatemp_exponent, where low and high are temperature -+ dynatemp_range, low at least 0, and n is the number of
// candidates that can be picked. Below kGreedyTemperature the best alone is kept. Null when dynatemp_range is 0.
std::unique_ptr<Processor> MakeDynamicTemperature(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_DYNAMIC_TEMPERATURE_H_
