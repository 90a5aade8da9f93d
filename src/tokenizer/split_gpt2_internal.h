#ifndef ADIT_TOKENIZER_SPLIT_GPT2_INTERNAL_H_
#define ADIT_TOKENIZER_SPLIT_GPT2_INTERNAL_H_

#include <cstddef>

#include "tokenizer/scan_internal.h"

namespace adit::tokenizer {

// End of the word that starts at `begin` by the rule of GPT-2. Precondition: begin < scanner.size().
size_t Gpt2WordEnd(const Scanner& scanner, size_t begin);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SPLIT_GPT2_INTERNAL_H_
