#ifndef ADIT_SAMPLE_DRY_H_
#define ADIT_SAMPLE_DRY_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// The DRY penalty, as SamplingParams describes it. A breaker's occurrence counts where all of it lies in the window;
// the one that ends last is the one that matters. Takes time linear in the window, and memory for it in
// scratch.matches; uses scratch.counts. Null when dry_multiplier or dry_penalty_last_n is 0.
std::unique_ptr<Processor> MakeDry(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_DRY_H_
