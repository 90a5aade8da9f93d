#ifndef ADIT_TOKENIZER_SPACE_MARK_H_
#define ADIT_TOKENIZER_SPACE_MARK_H_

#include <string>
#include <string_view>

#include "tokenizer/decode_table.h"
#include "tokenizer/vocabulary.h"

// U+2581, as which SentencePiece writes a space.
namespace adit::tokenizer {

inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

// `text` with spaces as marks; one more before it if `prefix` is set.
std::string EscapeSpaces(std::string_view text, bool prefix);

// What each token of a GGUF vocabulary written with marks adds to a text: special tokens their own text, byte tokens
// their byte, others theirs with marks as spaces. strip_first_space: as the first of a sequence a token adds one space
// less, which encoding put there; a special token at the start is followed by a space of its own, which stays.
DecodeTable MarkedTexts(const Vocabulary& vocabulary, bool strip_first_space);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SPACE_MARK_H_
