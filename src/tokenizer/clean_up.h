#ifndef ADIT_TOKENIZER_CLEAN_UP_H_
#define ADIT_TOKENIZER_CLEAN_UP_H_

#include <string>
#include <string_view>

namespace adit::tokenizer {

// `text` with every `from`, which is not empty, replaced by `to`.
std::string ReplaceAll(std::string_view text, std::string_view from, std::string_view to);

// Takes out the spaces that do not stand before marks and contractions in English, as the `tokenizers` library does.
void CleanUpSpaces(std::string& text);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_CLEAN_UP_H_
