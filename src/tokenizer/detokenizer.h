#ifndef ADIT_TOKENIZER_DETOKENIZER_H_
#define ADIT_TOKENIZER_DETOKENIZER_H_

#include <cstdint>
#include <string>

#include "tokenizer/tokenizer.h"

namespace adit::tokenizer {

// Text of a growing sequence of tokens, in pieces that never split a UTF-8 character: bytes that may still become a
// character are held back until they do. The pieces joined equal Decode of the whole, with each byte that is not part
// of a character replaced by U+FFFD (maximal subparts, as the Unicode standard recommends).
class IncrementalDetokenizer {
 public:
  // `tokenizer` must outlive this. with_special: control tokens appear as their text.
  IncrementalDetokenizer(const Tokenizer& tokenizer, bool with_special);

  // The text that is complete after `id`; may be empty.
  std::string Append(int32_t id);
  // What is held back at the end: U+FFFD for an unfinished character, or nothing.
  std::string Finish();

 private:
  const Tokenizer& tokenizer_;
  bool with_special_;
  DecodeState state_;
  std::string pending_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_DETOKENIZER_H_
