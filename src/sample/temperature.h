#ifndef ADIT_SAMPLE_TEMPERATURE_H_
#define ADIT_SAMPLE_TEMPERATURE_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Divides logits by the temperature. What counts is their distance from the best one, so that is what is divided: the
// best becomes 0, and no temperature makes another exceed it or overflow. Null when the temperature is 1.
// With dynatemp_range above 0 it is MakeDynamicTemperature's step.
// For temperatures from kGreedyTemperature up: below, samplers are greedy and leave the step out.
std::unique_ptr<Processor> MakeTemperature(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_TEMPERATURE_H_
