#include "chat/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "chat/unicode_tables.h"

namespace adit::chat {
namespace {

constexpr char32_t kCapitalIWithDot = 0x130;
constexpr char32_t kCombiningDotAbove = 0x307;

bool Contains(std::span<const CharRange> ranges, char32_t c) {
  const auto range = std::ranges::lower_bound(ranges, c, {}, &CharRange::last);
  return range != ranges.end() && range->first <= c;
}

utf8proc_category_t Category(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)); }

const SpecialCase* FindSpecialCase(char32_t c) {
  const auto* special = std::ranges::lower_bound(kSpecialCases, c, {}, &SpecialCase::c);
  return special != std::end(kSpecialCases) && special->c == c ? special : nullptr;
}

CaseMapping One(utf8proc_int32_t c) { return {{static_cast<char32_t>(c)}, 1}; }

CaseMapping UntilZero(const char32_t (&chars)[3]) {
  CaseMapping mapping;
  while (mapping.size < 3 && chars[mapping.size] != 0) {
    mapping.chars[mapping.size] = chars[mapping.size];
    ++mapping.size;
  }
  return mapping;
}

}  // namespace

bool IsSpace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x9 && c <= 0xD) || (c >= 0x1C && c <= 0x1F);
  return Contains(kSpaces, c);
}

bool IsLower(char32_t c) {
  if (c < 0x80) return c >= 'a' && c <= 'z';
  return Category(c) == UTF8PROC_CATEGORY_LL || Contains(kOtherLowercase, c);
}

bool IsUpper(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z';
  return Category(c) == UTF8PROC_CATEGORY_LU || Contains(kOtherUppercase, c);
}

bool IsTitle(char32_t c) { return Category(c) == UTF8PROC_CATEGORY_LT; }

bool IsCased(char32_t c) { return IsLower(c) || IsUpper(c) || IsTitle(c); }

bool IsAlpha(char32_t c) {
  if (c < 0x80) return IsLower(c) || IsUpper(c);
  const utf8proc_category_t category = Category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool IsDecimal(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return Category(c) == UTF8PROC_CATEGORY_ND;
}

bool IsDigit(char32_t c) { return IsDecimal(c) || Contains(kOtherDigits, c); }

bool IsNumeric(char32_t c) {
  const utf8proc_category_t category = Category(c);
  return (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) || Contains(kNumericLetters, c);
}

bool IsPrintable(char32_t c) {
  if (c < 0x80) return c >= 0x20 && c < 0x7F;
  switch (Category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool IsCaseIgnorable(char32_t c) {
  switch (Category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return Contains(kCaseIgnorablePunctuation, c);
  }
}

bool IsIdentifierStart(char32_t c) { return c == U'_' || IsAlpha(c) || Category(c) == UTF8PROC_CATEGORY_NL; }

bool IsIdentifierPart(char32_t c) {
  if (IsIdentifierStart(c) || IsDecimal(c)) return true;
  const utf8proc_category_t category = Category(c);
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_PC;
}

int DecimalValue(char32_t c) {
  if (!IsDecimal(c)) return -1;
  if (c < 0x80) return static_cast<int>(c - '0');
  // The ten digits of a script are consecutive, and each script's are encoded apart from others or in tens.
  char32_t zero = c;
  while (IsDecimal(zero - 1) && c - zero < 60) --zero;
  return static_cast<int>((c - zero) % 10);
}

CaseMapping ToUpper(char32_t c) {
  if (c < 0x80) return {{IsLower(c) ? c - 0x20 : c}, 1};
  if (const SpecialCase* special = FindSpecialCase(c)) return UntilZero(special->upper);
  return One(utf8proc_toupper(static_cast<utf8proc_int32_t>(c)));
}

CaseMapping ToLower(char32_t c) {
  if (c < 0x80) return {{IsUpper(c) ? c + 0x20 : c}, 1};
  if (c == kCapitalIWithDot) return {{U'i', kCombiningDotAbove}, 2};
  return One(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
}

CaseMapping ToTitle(char32_t c) {
  if (c < 0x80) return ToUpper(c);
  if (const SpecialCase* special = FindSpecialCase(c)) return UntilZero(special->title);
  return One(utf8proc_totitle(static_cast<utf8proc_int32_t>(c)));
}

CaseMapping ToFolded(char32_t c) {
  utf8proc_int32_t folded[4] = {};
  int last_class = UTF8PROC_BOUNDCLASS_START;
  const utf8proc_ssize_t size = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded, std::size(folded),
                                                        UTF8PROC_CASEFOLD, &last_class);
  CaseMapping mapping;
  while (static_cast<utf8proc_ssize_t>(mapping.size) < size && mapping.size < mapping.chars.size()) {
    mapping.chars[mapping.size] = static_cast<char32_t>(folded[mapping.size]);
    ++mapping.size;
  }
  return mapping;
}

}  // namespace adit::chat
