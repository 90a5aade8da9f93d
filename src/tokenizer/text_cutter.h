#ifndef ADIT_TOKENIZER_TEXT_CUTTER_H_
#define ADIT_TOKENIZER_TEXT_CUTTER_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "tokenizer/split_pattern.h"
#include "tokenizer/text_range.h"

namespace adit::tokenizer {

// A run of text on its way to words. Invariants: words ascend, do not overlap, are not empty, and begin and end between
// characters of `text`; what lies between them is dropped.
class CutText {
 public:
  // `text` is not empty and outlives the object. at_start: it is the beginning of the whole input.
  CutText(std::string_view text, bool at_start) : text_(text), at_start_(at_start), words_{{0, text.size()}} {}

  std::string_view text() const { return text_; }
  // Whether the text is the beginning of the whole input.
  bool at_start() const { return at_start_; }
  const std::vector<TextRange>& words() const { return words_; }
  std::string_view Word(const TextRange& range) const { return text_.substr(range.begin, range.end - range.begin); }

  // New bounds of words in the same text.
  void SetWords(std::vector<TextRange> words) { words_ = std::move(words); }
  // A new text, which this then owns, and its words.
  void SetText(std::string text, std::vector<TextRange> words) {
    storage_ = std::move(text);
    text_ = storage_;
    words_ = std::move(words);
  }

 private:
  std::string_view text_;
  bool at_start_;
  std::string storage_;
  std::vector<TextRange> words_;
};

// One step of what tokenizer.json calls a pre-tokenizer: cuts words into smaller ones; some change the text too.
// Immutable and thread-safe. Text is UTF-8 before and after.
class TextCutter {
 public:
  virtual ~TextCutter() = default;
  virtual void Apply(CutText& cut) const = 0;
  // Asks a step that writes bytes as characters to leave them as they are; true if it is such a step.
  virtual bool LeaveBytes() { return false; }
};

// What becomes of the places where a pattern matches.
enum class CutBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// text_cutter.cc. inverted: what matches and what lies between change roles.
std::unique_ptr<TextCutter> MakePatternCutter(SplitPattern pattern, CutBehavior behavior, bool inverted);
// Cuts at the characters that the predicate accepts, each a match of its own.
std::unique_ptr<TextCutter> MakeCharacterCutter(bool (*predicate)(char32_t), CutBehavior behavior);
std::unique_ptr<TextCutter> MakeDelimiterCutter(char32_t delimiter);
// Words of `length` characters, the last one shorter.
std::unique_ptr<TextCutter> MakeFixedLengthCutter(size_t length);

// Predicates for MakeCharacterCutter.
bool IsWhiteSpace(char32_t c);   // White_Space
bool IsNumeric(char32_t c);      // \p{N}
bool IsPunctuation(char32_t c);  // \p{P} and the other symbols of ASCII

// text_cutter_blanks.cc.
struct ByteLevelOptions {
  bool add_prefix_space = true;  // a blank before each word that begins with none
  bool use_regex = true;         // cuts by GPT-2's rule
};
// Then writes each byte as its character.
std::unique_ptr<TextCutter> MakeByteLevelCutter(ByteLevelOptions options);

enum class PrependScheme { kAlways, kFirst, kNever };
struct MetaspaceOptions {
  std::string replacement;  // one character, which stands for a blank
  PrependScheme prepend = PrependScheme::kAlways;
  bool split = true;  // cuts before each replacement
};
std::unique_ptr<TextCutter> MakeMetaspaceCutter(MetaspaceOptions options);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_TEXT_CUTTER_H_
