// The rule of GPT-2 (encoder.py of its release), as a regular expression:
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
// and the variant that first sets every number character apart.
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/scan_internal.h"
#include "tokenizer/split_gpt2_internal.h"

namespace adit::tokenizer {
namespace {

// Bytes of the contraction at the start of `text`, or 0.
size_t ContractionLength(std::string_view text) {
  for (const std::string_view form : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(form)) return form.size();
  }
  return 0;
}

}  // namespace

size_t Gpt2WordEnd(const Scanner& scanner, size_t begin) {
  if (scanner.IsByte(begin, '\'')) {
    if (const size_t length = ContractionLength(scanner.text().substr(begin)); length != 0) return begin + length;
  }
  const size_t body = scanner.IsByte(begin, ' ') ? begin + 1 : begin;
  const ScannedChar first = scanner.At(body);
  if (first.classes & kLetter) return scanner.SkipAny(body, kLetter);
  if (first.classes & kNumber) return scanner.SkipAny(body, kNumber);
  if (first.length != 0 && !(first.classes & kSpace)) return scanner.SkipOthers(body, kSpace | kLetter | kNumber);
  return scanner.WhiteSpaceEnd(begin);
}

void SplitGpt2(std::string_view text, WordEnds& ends) {
  const Scanner scanner(text);
  for (size_t pos = 0; pos < text.size();) ends.push_back(pos = Gpt2WordEnd(scanner, pos));
}

void SplitDigitsThenGpt2(std::string_view text, WordEnds& ends) {
  const Scanner scanner(text);
  for (size_t pos = 0; pos < text.size();) {
    const ScannedChar c = scanner.At(pos);
    if (c.classes & kNumber) {
      ends.push_back(pos += c.length);
      continue;
    }
    // The text between two numbers is split for itself: its end counts as the end of the text.
    const size_t gap_end = scanner.SkipOthers(pos, kNumber);
    const Scanner gap(text.substr(0, gap_end));
    while (pos < gap_end) ends.push_back(pos = Gpt2WordEnd(gap, pos));
  }
}

}  // namespace adit::tokenizer
