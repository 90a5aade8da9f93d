#ifndef ADIT_TOKENIZER_SPECIAL_MATCHER_H_
#define ADIT_TOKENIZER_SPECIAL_MATCHER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/text_range.h"

namespace adit::tokenizer {

// How a token that stands for a fixed text is found.
struct MatchOptions {
  bool needs_trust = false;   // only in trusted text
  bool single_word = false;   // only where no word character stands beside it
  bool strips_left = false;   // takes the white space before it
  bool strips_right = false;  // takes the white space behind it
};

// Finds the tokens that stand for a fixed text: control tokens, which count only where the text is trusted, and
// user-defined ones, which count everywhere. Of those that start at one place the longest wins.
class SpecialMatcher {
 public:
  struct Match {
    int32_t id = -1;
    size_t length = 0;
    MatchOptions options;
  };

  // `text` is not empty and not added twice.
  void Add(std::string_view text, int32_t id, MatchOptions options);
  bool empty() const { return entries_.empty(); }
  // After the last Add and before the first match.
  void Build();

  // Whether a token may start with this byte.
  bool CanStart(char byte) const {
    const Range& range = first_byte_[static_cast<unsigned char>(byte)];
    return range.begin < range.end;
  }

  // The longest token at the start of `text`. One that needs trust must lie within the first `num_trusted` bytes.
  std::optional<Match> MatchAt(std::string_view text, size_t num_trusted) const;

  // What `match`, found at `pos`, takes of `text`: white space at its sides too, if it strips, but nothing before
  // `begin`. Nothing if it must be a single word and is not.
  static std::optional<TextRange> ExtentOf(const Match& match, std::string_view text, size_t begin, size_t pos);

 private:
  struct Entry {
    std::string text;
    int32_t id;
    MatchOptions options;
  };
  struct Range {
    size_t begin = 0;
    size_t end = 0;
  };

  // Entries of `range`, which agree in their first `depth` bytes and are longer than that, whose next one is `byte`.
  Range Narrow(Range range, size_t depth, char byte) const;

  std::vector<Entry> entries_;  // sorted by text
  std::array<Range, 256> first_byte_{};
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_SPECIAL_MATCHER_H_
