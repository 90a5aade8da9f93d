#ifndef ADIT_TOKENIZER_SPLIT_PATTERN_H_
#define ADIT_TOKENIZER_SPLIT_PATTERN_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/regex.h"

namespace adit::tokenizer {

// What a Split or Replace of tokenizer.json looks for: a text, or a regular expression. An expression that one of our
// splitters stands for, and which matches every place of a text, is known by it.
class SplitPattern {
 public:
  // Precondition: text is not empty.
  static SplitPattern FromText(std::string text);
  // Errors of TranslateOnigPattern and Regex::Compile.
  static Result<SplitPattern> FromOnig(std::string_view pattern);

  // Calls visit(begin, end) for the matches in `text`, left to right; one that is empty is found at most once in a
  // place. Precondition: text is UTF-8.
  template <typename Visit>
  void ForEachMatch(std::string_view text, const Visit& visit) const {
    if (regex_ == nullptr) {
      for (size_t at = text.find(text_); at != std::string_view::npos; at = text.find(text_, at + text_.size())) {
        visit(at, at + text_.size());
      }
      return;
    }
    Regex::Matcher matcher(*regex_);
    Regex::Match match;
    size_t last_end = std::string_view::npos;
    for (size_t pos = 0; pos <= text.size() && matcher.Find(text, pos, match);) {
      const bool empty = match.begin == match.end;
      if (!(empty && match.begin == last_end)) visit(match.begin, match.end);
      last_end = match.end;
      pos = empty ? NextChar(text, match.end) : match.end;
    }
  }

  // An expression that `split` stands for, as tokenizer.json files write it; empty for a splitter of another kind.
  static std::string_view PatternOf(SplitFunction split);

  // The splitter that cuts at every match, whose matches leave nothing between them; null for other patterns.
  SplitFunction splitter() const { return splitter_; }
  // How many bytes of replacement `content` one byte of text may become, at most.
  double MaxGrowth(std::string_view content) const;

 private:
  static size_t NextChar(std::string_view text, size_t pos);

  std::string text_;
  std::shared_ptr<const Regex> regex_;
  SplitFunction splitter_ = nullptr;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SPLIT_PATTERN_H_
