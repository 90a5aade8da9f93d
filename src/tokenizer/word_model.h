#ifndef ADIT_TOKENIZER_WORD_MODEL_H_
#define ADIT_TOKENIZER_WORD_MODEL_H_

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/text_range.h"

namespace adit::tokenizer {

// How the words of a text become tokens, each for itself. Immutable and thread-safe.
class WordModel {
 public:
  virtual ~WordModel() = default;
  // Appends the ids of `words`, none of them empty, which are parts of `text`, UTF-8.
  virtual void Encode(std::string_view text, std::span<const TextRange> words, std::vector<int32_t>& ids) const = 0;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_WORD_MODEL_H_
