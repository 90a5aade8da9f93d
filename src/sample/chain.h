#ifndef ADIT_SAMPLE_CHAIN_H_
#define ADIT_SAMPLE_CHAIN_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

using MakeProcessor = std::unique_ptr<Processor> (*)(const SamplingParams& params);

// A kind of step that `samplers` may name.
struct ChainStep {
  std::string_view name;
  MakeProcessor make;  // gives null where the parameters leave the step without effect
  // Whether it leaves the best candidate alone; null: never.
  bool (*leaves_one)(const SamplingParams& params) = nullptr;
  bool with_mirostat = false;  // acts along with mirostat, which takes the place of the others
};

// All kinds in the default order.
std::span<const ChainStep> ChainSteps();

// Null when there is none of this name.
const ChainStep* FindChainStep(std::string_view name);

// The steps that `samplers` and `mirostat` choose, in order. Precondition: params are valid.
std::vector<const ChainStep*> ChainOf(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_CHAIN_H_
