#ifndef ADIT_TOKENIZER_TEXT_RANGE_H_
#define ADIT_TOKENIZER_TEXT_RANGE_H_

#include <cstddef>

namespace adit::tokenizer {

// Bytes begin to end - 1 of a text.
struct TextRange {
  size_t begin = 0;
  size_t end = 0;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_TEXT_RANGE_H_
