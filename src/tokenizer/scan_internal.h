#ifndef ADIT_TOKENIZER_SCAN_INTERNAL_H_
#define ADIT_TOKENIZER_SCAN_INTERNAL_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenizer/lenient_utf8.h"
#include "tokenizer/unicode_class.h"

namespace adit::tokenizer {

// A character under the scanner; length 0 at the end of the text.
struct ScannedChar {
  uint8_t classes = 0;
  uint8_t length = 0;
};

// Reads a text by character classes. Positions are byte offsets of characters.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text), classes_(UnicodeClasses::Get()) {}

  std::string_view text() const { return text_; }
  size_t size() const { return text_.size(); }
  bool IsByte(size_t pos, char byte) const { return pos < text_.size() && text_[pos] == byte; }

  ScannedChar At(size_t pos) const {
    if (pos >= text_.size()) return {};
    const auto byte = static_cast<unsigned char>(text_[pos]);
    if (byte < 0x80) return {classes_.Of(byte), 1};
    const LenientChar c = DecodeLenient(text_.substr(pos));
    return {classes_.Of(c.code_point), static_cast<uint8_t>(c.length)};
  }

  // First position from `pos` on whose character has none of the classes in `mask`.
  size_t SkipAny(size_t pos, uint8_t mask) const {
    ScannedChar c = At(pos);
    while ((c.classes & mask) != 0) {
      pos += c.length;
      c = At(pos);
    }
    return pos;
  }

  // First position from `pos` on whose character has one of the classes in `mask`, or the end.
  size_t SkipOthers(size_t pos, uint8_t mask) const {
    ScannedChar c = At(pos);
    while (c.length != 0 && (c.classes & mask) == 0) {
      pos += c.length;
      c = At(pos);
    }
    return pos;
  }

  // End of `\s+(?!\S)|\s+` at `begin`, where white space stands: the whole run at the end of the text or if it is one
  // character, else the run without its last character.
  size_t WhiteSpaceEnd(size_t begin) const {
    const size_t end = SkipAny(begin, kSpace);
    if (end == text_.size()) return end;
    size_t last = end - 1;
    while (last > begin && (static_cast<unsigned char>(text_[last]) & 0xC0) == 0x80) --last;
    return last > begin ? last : end;
  }

 private:
  std::string_view text_;
  const UnicodeClasses& classes_;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SCAN_INTERNAL_H_
