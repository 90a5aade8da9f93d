#ifndef ADIT_SERVER_ASCII_H_
#define ADIT_SERVER_ASCII_H_

#include <string>
#include <string_view>

// What protocols say of letters, digits and blanks: of ASCII alone, whatever the locale.
namespace adit::server {

inline char LowerCase(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

// Without spaces and tabs at its ends.
inline std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The value of a hexadecimal digit; -1: it is none.
inline int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace adit::server

#endif  // ADIT_SERVER_ASCII_H_
