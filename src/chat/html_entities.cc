#include "chat/html_entities.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>

#include "base/error.h"
#include "base/utf8.h"

namespace adit::chat {
namespace {

constexpr size_t kMaxNameBytes = 32;

// References that HTML also takes without a semicolon: U+00A0 to U+00FF in order ...
constexpr std::array<std::string_view, 96> kLatin1 = {
    "nbsp",   "iexcl",  "cent",   "pound",  "curren", "yen",    "brvbar", "sect",   "uml",    "copy",   "ordf",
    "laquo",  "not",    "shy",    "reg",    "macr",   "deg",    "plusmn", "sup2",   "sup3",   "acute",  "micro",
    "para",   "middot", "cedil",  "sup1",   "ordm",   "raquo",  "frac14", "frac12", "frac34", "iquest", "Agrave",
    "Aacute", "Acirc",  "Atilde", "Auml",   "Aring",  "AElig",  "Ccedil", "Egrave", "Eacute", "Ecirc",  "Euml",
    "Igrave", "Iacute", "Icirc",  "Iuml",   "ETH",    "Ntilde", "Ograve", "Oacute", "Ocirc",  "Otilde", "Ouml",
    "times",  "Oslash", "Ugrave", "Uacute", "Ucirc",  "Uuml",   "Yacute", "THORN",  "szlig",  "agrave", "aacute",
    "acirc",  "atilde", "auml",   "aring",  "aelig",  "ccedil", "egrave", "eacute", "ecirc",  "euml",   "igrave",
    "iacute", "icirc",  "iuml",   "eth",    "ntilde", "ograve", "oacute", "ocirc",  "otilde", "ouml",   "divide",
    "oslash", "ugrave", "uacute", "ucirc",  "uuml",   "yacute", "thorn",  "yuml"};

struct Entity {
  std::string_view name;
  char32_t c;
};
// ... and these.
constexpr Entity kLegacy[] = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'},   {"quot", '"'},  {"AMP", '&'},
                              {"LT", '<'},  {"GT", '>'}, {"QUOT", '"'}, {"COPY", 0xA9}, {"REG", 0xAE}};
// Only with a semicolon.
constexpr Entity kWithSemicolon[] = {
    {"apos", '\''},     {"ndash", 0x2013},  {"mdash", 0x2014},  {"lsquo", 0x2018}, {"rsquo", 0x2019},
    {"sbquo", 0x201A},  {"ldquo", 0x201C},  {"rdquo", 0x201D},  {"bdquo", 0x201E}, {"bull", 0x2022},
    {"hellip", 0x2026}, {"lsaquo", 0x2039}, {"rsaquo", 0x203A}, {"euro", 0x20AC},  {"trade", 0x2122},
    {"larr", 0x2190},   {"uarr", 0x2191},   {"rarr", 0x2192},   {"darr", 0x2193},  {"minus", 0x2212},
    {"infin", 0x221E},  {"ne", 0x2260},     {"le", 0x2264},     {"ge", 0x2265},    {"ensp", 0x2002},
    {"emsp", 0x2003},   {"thinsp", 0x2009}, {"zwnj", 0x200C},   {"zwj", 0x200D}};

// What browsers make of the numbers 0x80 to 0x9F.
constexpr char32_t kWindows1252[] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                     0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                     0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                     0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};

char32_t Find(std::span<const Entity> entities, std::string_view name) {
  const auto found = std::ranges::find(entities, name, &Entity::name);
  return found == entities.end() ? 0 : found->c;
}

char32_t FindLegacy(std::string_view name) {
  const auto* latin1 = std::ranges::find(kLatin1, name);
  if (latin1 != kLatin1.end()) return static_cast<char32_t>(0xA0 + (latin1 - kLatin1.begin()));
  return Find(kLegacy, name);
}

// The text of a numeric reference, by the rules of the HTML standard for numbers that are no characters.
void AppendNumeric(uint32_t number, std::string* out) {
  if (number >= 0x80 && number < 0xA0) number = kWindows1252[number - 0x80];
  const bool no_character = number == 0 || (number >= 0xD800 && number <= 0xDFFF) || number > 0x10FFFF;
  const bool control = number < 0x9 || number == 0xB || (number >= 0xE && number <= 0x1F) || number == 0x7F;
  const bool reserved = (number >= 0xFDD0 && number <= 0xFDEF) || (number & 0xFFFE) == 0xFFFE;
  if (no_character) {
    AppendUtf8(kReplacementCharacter, *out);
  } else if (!control && !reserved) {
    AppendUtf8(number, *out);
  }
}

bool IsHexDigit(char c) {
  const char lower = static_cast<char>(c | 0x20);
  return (c >= '0' && c <= '9') || (lower >= 'a' && lower <= 'f');
}

// Bytes of the numeric reference at the start of `text`, which begins with &#; 0 if it is none.
size_t TakeNumeric(std::string_view text, std::string* out) {
  const bool hex = text.size() > 2 && (text[2] | 0x20) == 'x';
  const size_t begin = hex ? 3 : 2;
  size_t end = begin;
  uint32_t number = 0;
  while (end < text.size() && (hex ? IsHexDigit(text[end]) : text[end] >= '0' && text[end] <= '9')) {
    const char c = static_cast<char>(text[end] | 0x20);
    const uint32_t digit = c >= 'a' ? static_cast<uint32_t>(c - 'a' + 10) : static_cast<uint32_t>(text[end] - '0');
    number = std::min<uint32_t>(number * (hex ? 16 : 10) + digit, 0x110000);
    ++end;
  }
  if (end == begin) return 0;
  AppendNumeric(number, out);
  return end < text.size() && text[end] == ';' ? end + 1 : end;
}

// The same for a named reference.
Result<size_t> TakeNamed(std::string_view text, std::string* out) {
  const std::string_view rest = text.substr(1, kMaxNameBytes);
  const size_t size = std::min(rest.find_first_of("\t\n\f <&#;"), rest.size());
  const std::string_view name = rest.substr(0, size);
  const bool closed = 1 + size < text.size() && text[1 + size] == ';';
  if (closed) {
    const char32_t c = std::max(FindLegacy(name), Find(kWithSemicolon, name));
    if (c != 0) {
      AppendUtf8(c, *out);
      return size + 2;
    }
    const bool is_word = std::ranges::all_of(name, [](char l) { return (l | 0x20) >= 'a' && (l | 0x20) <= 'z'; });
    if (is_word && !name.empty()) return InvalidArgument("the character reference &{}; is not known", name);
  }
  for (size_t prefix = size; prefix > 1; --prefix) {
    if (const char32_t c = FindLegacy(name.substr(0, prefix)); c != 0) {
      AppendUtf8(c, *out);
      return prefix + 1;
    }
  }
  return size_t{0};
}

}  // namespace

Status UnescapeHtml(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t plain = std::min(text.find('&'), text.size());
    out->append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    size_t taken = 0;
    if (text.starts_with("&#")) {
      taken = TakeNumeric(text, out);
    } else {
      ADIT_ASSIGN_OR_RETURN(taken, TakeNamed(text, out));
    }
    if (taken == 0) {
      out->push_back('&');
      taken = 1;
    }
    text.remove_prefix(taken);
  }
  return Status();
}

}  // namespace adit::chat
