#include "tokenizer/text_cutter.h"

#include <algorithm>

#include "base/utf8.h"
#include "tokenizer/unicode_class.h"

namespace adit::tokenizer {
namespace {

struct Span {
  TextRange range;
  bool match;
};

void AddWord(TextRange range, std::vector<TextRange>& words) {
  if (range.end > range.begin) words.push_back(range);
}

// Turns the matches and gaps of one word, in order, into words.
void Combine(const std::vector<Span>& spans, CutBehavior behavior, std::vector<TextRange>& words) {
  switch (behavior) {
    case CutBehavior::kRemoved:
      for (const Span& span : spans) {
        if (!span.match) AddWord(span.range, words);
      }
      return;
    case CutBehavior::kIsolated:
      for (const Span& span : spans) AddWord(span.range, words);
      return;
    case CutBehavior::kContiguous:
      for (size_t i = 0; i < spans.size();) {
        size_t last = i;
        while (last + 1 < spans.size() && spans[last + 1].match == spans[i].match) ++last;
        AddWord({spans[i].range.begin, spans[last].range.end}, words);
        i = last + 1;
      }
      return;
    case CutBehavior::kMergedWithPrevious:
      for (size_t i = 0; i < spans.size(); ++i) {
        const bool takes_next = !spans[i].match && i + 1 < spans.size() && spans[i + 1].match;
        AddWord({spans[i].range.begin, spans[takes_next ? i + 1 : i].range.end}, words);
        if (takes_next) ++i;
      }
      return;
    case CutBehavior::kMergedWithNext:
      for (size_t i = 0; i < spans.size(); ++i) {
        const bool takes_next = spans[i].match && i + 1 < spans.size() && !spans[i + 1].match;
        AddWord({spans[i].range.begin, spans[takes_next ? i + 1 : i].range.end}, words);
        if (takes_next) ++i;
      }
      return;
  }
}

// Cuts each word at the matches that find(word, visit) reports.
template <typename Find>
void CutWords(CutText& cut, CutBehavior behavior, bool inverted, const Find& find) {
  std::vector<TextRange> words;
  std::vector<Span> spans;
  for (const TextRange& word : cut.words()) {
    spans.clear();
    size_t pos = word.begin;
    find(cut.Word(word), [&](size_t begin, size_t end) {
      if (word.begin + begin > pos) spans.push_back({{pos, word.begin + begin}, inverted});
      spans.push_back({{word.begin + begin, word.begin + end}, !inverted});
      pos = word.begin + end;
    });
    if (word.end > pos) spans.push_back({{pos, word.end}, inverted});
    Combine(spans, behavior, words);
  }
  cut.SetWords(std::move(words));
}

class PatternCutter : public TextCutter {
 public:
  PatternCutter(SplitPattern pattern, CutBehavior behavior, bool inverted)
      : pattern_(std::move(pattern)), behavior_(behavior), inverted_(inverted) {}

  void Apply(CutText& cut) const override {
    // A splitter leaves no gaps, so the matches are the words under these two.
    const bool keeps_matches = behavior_ == CutBehavior::kIsolated || (behavior_ == CutBehavior::kRemoved && inverted_);
    if (pattern_.splitter() != nullptr && keeps_matches) return CutBySplitter(cut);
    CutWords(cut, behavior_, inverted_,
             [this](std::string_view word, const auto& visit) { pattern_.ForEachMatch(word, visit); });
  }

 private:
  void CutBySplitter(CutText& cut) const {
    std::vector<TextRange> words;
    WordEnds ends;
    for (const TextRange& word : cut.words()) {
      ends.clear();
      pattern_.splitter()(cut.Word(word), ends);
      size_t begin = word.begin;
      for (const size_t end : ends) {
        words.push_back({begin, word.begin + end});
        begin = word.begin + end;
      }
    }
    cut.SetWords(std::move(words));
  }

  SplitPattern pattern_;
  CutBehavior behavior_;
  bool inverted_;
};

template <typename Predicate>
class CharacterCutter : public TextCutter {
 public:
  CharacterCutter(Predicate predicate, CutBehavior behavior) : predicate_(predicate), behavior_(behavior) {}

  void Apply(CutText& cut) const override {
    CutWords(cut, behavior_, false, [this](std::string_view word, const auto& visit) {
      for (size_t pos = 0; pos < word.size();) {
        const Utf8Char c = DecodeUtf8(word.substr(pos));
        if (predicate_(c.code_point)) visit(pos, pos + c.length);
        pos += c.length;
      }
    });
  }

 private:
  Predicate predicate_;
  CutBehavior behavior_;
};

class FixedLengthCutter : public TextCutter {
 public:
  explicit FixedLengthCutter(size_t length) : length_(length) {}

  void Apply(CutText& cut) const override {
    CutWords(cut, CutBehavior::kIsolated, false, [this](std::string_view word, const auto& visit) {
      for (size_t pos = 0; pos < word.size();) {
        const size_t begin = pos;
        for (size_t i = 0; i < length_ && pos < word.size(); ++i) pos += DecodeUtf8(word.substr(pos)).length;
        visit(begin, pos);
      }
    });
  }

 private:
  size_t length_;
};

}  // namespace

bool IsWhiteSpace(char32_t c) { return (UnicodeClasses::Get().Of(c) & kSpace) != 0; }

bool IsNumeric(char32_t c) { return (UnicodeClasses::Get().Of(c) & kNumber) != 0; }

bool IsPunctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  }
  return (UnicodeClasses::Get().Of(c) & kPunctuation) != 0;
}

std::unique_ptr<TextCutter> MakePatternCutter(SplitPattern pattern, CutBehavior behavior, bool inverted) {
  return std::make_unique<PatternCutter>(std::move(pattern), behavior, inverted);
}

std::unique_ptr<TextCutter> MakeCharacterCutter(bool (*predicate)(char32_t), CutBehavior behavior) {
  return std::make_unique<CharacterCutter<bool (*)(char32_t)>>(predicate, behavior);
}

std::unique_ptr<TextCutter> MakeDelimiterCutter(char32_t delimiter) {
  const auto is_delimiter = [delimiter](char32_t c) { return c == delimiter; };
  return std::make_unique<CharacterCutter<decltype(is_delimiter)>>(is_delimiter, CutBehavior::kRemoved);
}

std::unique_ptr<TextCutter> MakeFixedLengthCutter(size_t length) { return std::make_unique<FixedLengthCutter>(length); }

}  // namespace adit::tokenizer
