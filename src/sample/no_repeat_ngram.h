#ifndef ADIT_SAMPLE_NO_REPEAT_NGRAM_H_
#define ADIT_SAMPLE_NO_REPEAT_NGRAM_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Bans each token that would complete a sequence of no_repeat_ngram_size tokens that stands in prompt and output
// already. May leave no token. Takes time linear in the history, and memory for it in scratch.matches. Null when off.
std::unique_ptr<Processor> MakeNoRepeatNgram(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_NO_REPEAT_NGRAM_H_
