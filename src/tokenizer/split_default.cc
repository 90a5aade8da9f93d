// What files that name no family of their own were made for: four expressions, each applied to the parts that those
// before it left or found:
//   [\p{P}$+<=>^~|]+   then the rule of GPT-2   then \p{N}+   then [0-9][0-9][0-9]
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/scan_internal.h"
#include "tokenizer/split_gpt2_internal.h"

namespace adit::tokenizer {
namespace {

bool IsMark(const Scanner& scanner, size_t pos, ScannedChar c) {
  constexpr std::string_view kSymbols = "$+<=>^~|";
  if (c.length == 1 && kSymbols.find(scanner.text()[pos]) != std::string_view::npos) return true;
  return (c.classes & kPunctuation) != 0;
}

// End of the longest run from `pos` on whose characters all are marks, or all are not.
size_t RunEnd(const Scanner& scanner, size_t pos, bool marks) {
  for (ScannedChar c = scanner.At(pos); c.length != 0 && IsMark(scanner, pos, c) == marks; c = scanner.At(pos)) {
    pos += c.length;
  }
  return pos;
}

bool IsAsciiTriple(std::string_view text) {
  for (size_t i = 0; i < 3; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return false;
  }
  return true;
}

// Cuts a run of number characters at its groups of three ASCII digits, leftmost first.
void SplitNumbers(const Scanner& scanner, size_t begin, size_t end, WordEnds& ends) {
  size_t word = begin;
  size_t pos = begin;
  while (pos < end) {
    if (!IsAsciiTriple(scanner.text().substr(pos, end - pos))) {
      pos += scanner.At(pos).length;
      continue;
    }
    if (pos > word) ends.push_back(pos);
    ends.push_back(word = pos += 3);
  }
  if (pos > word) ends.push_back(pos);
}

}  // namespace

void SplitDefault(std::string_view text, WordEnds& ends) {
  const Scanner scanner(text);
  for (size_t pos = 0; pos < text.size();) {
    if (const size_t marks_end = RunEnd(scanner, pos, true); marks_end > pos) {
      ends.push_back(pos = marks_end);
      continue;
    }
    const size_t gap_end = RunEnd(scanner, pos, false);
    const Scanner gap(text.substr(0, gap_end));
    while (pos < gap_end) {
      const size_t end = Gpt2WordEnd(gap, pos);
      const size_t numbers = gap.IsByte(pos, ' ') ? pos + 1 : pos;
      if (gap.At(numbers).classes & kNumber && numbers < end) {
        if (numbers > pos) ends.push_back(numbers);
        SplitNumbers(gap, numbers, end, ends);
      } else {
        ends.push_back(end);
      }
      pos = end;
    }
  }
}

}  // namespace adit::tokenizer
