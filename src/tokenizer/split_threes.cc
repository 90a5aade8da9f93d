// Rules that cut numbers into groups of three digits from the right. As regular expressions, in turn:
//   SuperBPE   \p{N}+   then (?=(\d{3})+(?!\d))
//   Tiny Aya   \d{1,3}(?=(?:\d{3})*\b)
// Both look to the end of the number from each of its digits; the scanners here look once.
#include <utf8proc.h>

#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/scan_internal.h"

namespace adit::tokenizer {
namespace {

utf8proc_category_t CategoryAt(std::string_view text, size_t pos) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(DecodeLenient(text.substr(pos)).code_point));
}

bool IsDigitAt(std::string_view text, size_t pos) {
  return pos < text.size() && CategoryAt(text, pos) == UTF8PROC_CATEGORY_ND;
}

struct Digits {
  size_t end;    // of the run
  size_t count;  // of its digits
};

Digits DigitsAt(const Scanner& scanner, size_t pos) {
  Digits digits = {pos, 0};
  while (IsDigitAt(scanner.text(), digits.end)) {
    digits.end += scanner.At(digits.end).length;
    ++digits.count;
  }
  return digits;
}

// Ends of the groups of the run at `pos`; that of the last one too.
void CutThrees(const Scanner& scanner, size_t pos, Digits digits, WordEnds& ends) {
  for (size_t left = digits.count; left > 0;) {
    for (size_t n = left % 3 == 0 ? 3 : left % 3; n > 0; --n, --left) pos += scanner.At(pos).length;
    ends.push_back(pos);
  }
}

void EndWord(size_t pos, WordEnds& ends, size_t first) {
  if (pos > first && (ends.empty() || ends.back() < pos)) ends.push_back(pos);
}

}  // namespace

void SplitSuperBpe(std::string_view text, WordEnds& ends) {
  const Scanner scanner(text);
  for (size_t pos = 0; pos < text.size();) {
    const size_t gap_end = scanner.SkipOthers(pos, kNumber);
    EndWord(gap_end, ends, pos);
    pos = gap_end;
    const size_t run_end = scanner.SkipAny(pos, kNumber);
    while (pos < run_end) {
      const Digits digits = DigitsAt(scanner, pos);
      if (digits.count == 0) {
        pos += scanner.At(pos).length;
        continue;
      }
      // Between other numbers and the first group stands a cut only if that group is whole.
      if (digits.count % 3 == 0) EndWord(pos, ends, 0);
      WordEnds groups;
      CutThrees(scanner, pos, digits, groups);
      if (!groups.empty()) groups.pop_back();
      for (const size_t end : groups) ends.push_back(end);
      pos = digits.end;
    }
    EndWord(run_end, ends, 0);
  }
}

void SplitThreesBeforeBorders(std::string_view text, WordEnds& ends) {
  const Scanner scanner(text);
  for (size_t pos = 0; pos < text.size();) {
    if (!IsDigitAt(text, pos)) {
      pos += scanner.At(pos).length;
      continue;
    }
    const Digits digits = DigitsAt(scanner, pos);
    const bool word_goes_on = (scanner.At(digits.end).classes & (kLetter | kMark)) != 0 ||
                              (digits.end < text.size() && CategoryAt(text, digits.end) == UTF8PROC_CATEGORY_PC);
    if (!word_goes_on) {
      EndWord(pos, ends, 0);
      CutThrees(scanner, pos, digits, ends);
    }
    pos = digits.end;
  }
  EndWord(text.size(), ends, 0);
}

}  // namespace adit::tokenizer
