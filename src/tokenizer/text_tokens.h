#ifndef ADIT_TOKENIZER_TEXT_TOKENS_H_
#define ADIT_TOKENIZER_TEXT_TOKENS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary.h"

namespace adit::tokenizer {

// A token that plain text may become.
struct TextToken {
  std::string_view text;
  int32_t id;
};

// Those of a GGUF file's vocabulary but for tokens of single bytes; their texts are the vocabulary's.
std::vector<TextToken> TextTokens(const Vocabulary& vocabulary);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_TEXT_TOKENS_H_
