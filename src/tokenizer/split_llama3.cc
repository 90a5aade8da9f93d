// The rule of Llama 3 and its relatives, as a regular expression:
//   (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
// Qwen2 takes \p{N} for \p{N}{1,3}. Qwen3.5 does so too, and counts marks with the letters: [\p{L}\p{M}]+ and
// [^\s\p{L}\p{M}\p{N}]+.
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/scan_internal.h"

namespace adit::tokenizer {
namespace {

struct Rule {
  int max_numbers;  // in one word
  uint8_t letters;  // classes of what forms words
};

char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Bytes of the contraction at the start of `text`, or 0. Case is folded as Unicode does, where U+017F (long s) is an s.
size_t FoldedContractionLength(std::string_view text) {
  if (text.size() < 2) return 0;
  const char first = ToLower(text[1]);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return 2;
  if (text.substr(1).starts_with("\xC5\xBF")) return 3;
  if (text.size() < 3) return 0;
  const char second = ToLower(text[2]);
  const bool two_letters =
      (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
  return two_letters ? 3 : 0;
}

size_t NumbersEnd(const Scanner& scanner, size_t pos, int max_numbers) {
  for (int i = 0; i < max_numbers; ++i) {
    const ScannedChar c = scanner.At(pos);
    if (!(c.classes & kNumber)) break;
    pos += c.length;
  }
  return pos;
}

// End of `\s*[\r\n]+|\s+(?!\S)|\s+` at white space: behind the last line end of the run, if it has one.
size_t WhiteSpaceOrLinesEnd(const Scanner& scanner, size_t begin) {
  size_t lines_end = begin;
  size_t pos = begin;
  for (ScannedChar c = scanner.At(pos); c.classes & kSpace; c = scanner.At(pos)) {
    pos += c.length;
    if (c.classes & kNewline) lines_end = pos;
  }
  return lines_end > begin ? lines_end : scanner.WhiteSpaceEnd(begin);
}

size_t WordEnd(const Scanner& scanner, size_t begin, Rule rule) {
  if (scanner.IsByte(begin, '\'')) {
    if (const size_t length = FoldedContractionLength(scanner.text().substr(begin)); length != 0) return begin + length;
  }
  const ScannedChar c = scanner.At(begin);
  if (c.classes & rule.letters) return scanner.SkipAny(begin, rule.letters);
  if (c.classes & kNumber) return NumbersEnd(scanner, begin, rule.max_numbers);
  const size_t second = begin + c.length;
  if (!(c.classes & kNewline) && (scanner.At(second).classes & rule.letters))
    return scanner.SkipAny(second, rule.letters);
  const uint8_t not_symbols = kSpace | kNumber | rule.letters;
  const size_t body = scanner.IsByte(begin, ' ') ? begin + 1 : begin;
  const ScannedChar first = scanner.At(body);
  if (first.length != 0 && !(first.classes & not_symbols)) {
    return scanner.SkipAny(scanner.SkipOthers(body, not_symbols), kNewline);
  }
  return WhiteSpaceOrLinesEnd(scanner, begin);
}

void Split(std::string_view text, WordEnds& ends, Rule rule) {
  const Scanner scanner(text);
  for (size_t pos = 0; pos < text.size();) ends.push_back(pos = WordEnd(scanner, pos, rule));
}

}  // namespace

void SplitLlama3(std::string_view text, WordEnds& ends) { Split(text, ends, {.max_numbers = 3, .letters = kLetter}); }

void SplitQwen2(std::string_view text, WordEnds& ends) { Split(text, ends, {.max_numbers = 1, .letters = kLetter}); }

void SplitQwen35(std::string_view text, WordEnds& ends) {
  Split(text, ends, {.max_numbers = 1, .letters = kLetter | kMark});
}

}  // namespace adit::tokenizer
