#include "tokenizer/unicode_class.h"

#include <utf8proc.h>

#include <map>
#include <string>

namespace adit::tokenizer {
namespace {

// The White_Space property (PropList.txt): 25 code points.
bool IsWhiteSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

uint8_t CategoryClass(utf8proc_category_t category) {
  switch (category) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return kNumber;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return kMark;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return kPunctuation;
    default:
      return 0;
  }
}

// Planes 4 to 13 are unassigned and planes 15 and 16 are for private use: nothing in them has a class.
bool IsEmptyPlane(char32_t c) {
  const char32_t plane = c >> 16;
  return plane >= 4 && plane != 14;
}

uint8_t Classify(char32_t c) {
  if (c == '\r' || c == '\n') return kSpace | kNewline;
  if (IsWhiteSpace(c)) return kSpace;
  return CategoryClass(utf8proc_category(static_cast<utf8proc_int32_t>(c)));
}

}  // namespace

bool IsWordCharacter(char32_t code_point) {
  if (code_point == 0x200C || code_point == 0x200D) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC ||
         (CategoryClass(category) & (kLetter | kMark)) != 0;
}

const UnicodeClasses& UnicodeClasses::Get() {
  static const UnicodeClasses classes;
  return classes;
}

UnicodeClasses::UnicodeClasses() {
  std::map<std::string, uint16_t> known;
  std::string block(kBlockSize, '\0');
  for (char32_t first = 0; first < kNumCodePoints; first += kBlockSize) {
    for (char32_t i = 0; i < kBlockSize; ++i)
      block[i] = IsEmptyPlane(first) ? '\0' : static_cast<char>(Classify(first + i));
    const auto [entry, inserted] = known.try_emplace(block, static_cast<uint16_t>(known.size()));
    if (inserted) blocks_.insert(blocks_.end(), block.begin(), block.end());
    block_index_[first / kBlockSize] = entry->second;
  }
}

}  // namespace adit::tokenizer
