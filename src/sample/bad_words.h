#ifndef ADIT_SAMPLE_BAD_WORDS_H_
#define ADIT_SAMPLE_BAD_WORDS_H_

#include <memory>

#include "sample/processor.h"
#include "sample/sampling_params.h"

namespace adit::sample {

// Bans the last token of each sequence of bad_words whose other tokens the history ends with. May leave no token. Null
// when there are none.
std::unique_ptr<Processor> MakeBadWords(const SamplingParams& params);

}  // namespace adit::sample

#endif  // ADIT_SAMPLE_BAD_WORDS_H_
