#ifndef ADIT_BASE_UTF8_H_
#define ADIT_BASE_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8 as RFC 3629 and the Unicode standard (section 3.9, table 3-7) define it: no overlong forms, no surrogates,
// nothing above U+10FFFF.
namespace adit {

inline constexpr char32_t kReplacementCharacter = 0xFFFD;

// One step of decoding.
struct Utf8Char {
  char32_t code_point = kReplacementCharacter;
  size_t length = 1;   // bytes taken
  bool valid = false;  // else code_point is U+FFFD and length that of the maximal subpart, 1 to 3
};

// The character at the start of `text`. Where the bytes are no character, takes the maximal subpart: the longest start
// of a well-formed character, or one byte. Precondition: text is not empty.
Utf8Char DecodeUtf8(std::string_view text);

// Appends the encoding of `code_point`; that of U+FFFD for a surrogate or a number above U+10FFFF.
void AppendUtf8(char32_t code_point, std::string& out);

bool IsValidUtf8(std::string_view text);

// `text` with each maximal subpart that is not a character replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// How many bytes at the end of `text`, 0 to 3, are the start of a character that more bytes could complete.
size_t IncompleteUtf8Suffix(std::string_view text);

}  // namespace adit

#endif  // ADIT_BASE_UTF8_H_
