#ifndef ADIT_CHAT_UNICODE_H_
#define ADIT_CHAT_UNICODE_H_

#include <array>
#include <cstddef>
#include <string_view>

// Properties and case of code points as Python's str methods see them.
namespace adit::chat {

bool IsSpace(char32_t c);      // str.isspace
bool IsLower(char32_t c);      // the property Lowercase
bool IsUpper(char32_t c);      // the property Uppercase
bool IsCased(char32_t c);      // lower, upper or title case
bool IsAlpha(char32_t c);      // a letter
bool IsDecimal(char32_t c);    // a digit that int() reads
bool IsDigit(char32_t c);      // decimal, or a digit such as a superscript
bool IsNumeric(char32_t c);    // any character with a numeric value
bool IsPrintable(char32_t c);  // repr() shows it as it is
bool IsTitle(char32_t c);      // a title case letter
bool IsCaseIgnorable(char32_t c);
bool IsIdentifierStart(char32_t c);
bool IsIdentifierPart(char32_t c);
inline bool IsWordChar(char32_t c) { return c == U'_' || IsAlpha(c) || IsNumeric(c); }  // \w of a regular expression
int DecimalValue(char32_t c);                                                           // -1 if not IsDecimal

// One to three code points.
struct CaseMapping {
  std::array<char32_t, 3> chars = {};
  size_t size = 0;

  std::u32string_view view() const { return {chars.data(), size}; }
};

// The full mappings of Unicode, which may make one character several; the final sigma is the caller's.
CaseMapping ToUpper(char32_t c);
CaseMapping ToLower(char32_t c);
CaseMapping ToTitle(char32_t c);
CaseMapping ToFolded(char32_t c);

}  // namespace adit::chat

#endif  // ADIT_CHAT_UNICODE_H_
