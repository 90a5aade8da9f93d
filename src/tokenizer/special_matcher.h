#ifndef ADIT_TOKENIZER_SPECIAL_MATCHER_H_
#define ADIT_TOKENIZER_SPECIAL_MATCHER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adit::tokenizer {

// Finds the tokens that stand for a fixed text: control tokens, which count only where the text is trusted, and
// user-defined ones, which count everywhere. Of those that start at one place the longest wins.
class SpecialMatcher {
 public:
  struct Match {
    int32_t id = -1;
    size_t length = 0;
  };

  // `text` is not empty and not added twice.
  void Add(std::string_view text, int32_t id, bool needs_trust);
  // After the last Add and before the first match.
  void Build();

  // Whether a token may start with this byte.
  bool CanStart(char byte) const {
    const Range& range = first_byte_[static_cast<unsigned char>(byte)];
    return range.begin < range.end;
  }

  // The longest token at the start of `text`. One that needs trust must lie within the first `num_trusted` bytes.
  std::optional<Match> MatchAt(std::string_view text, size_t num_trusted) const;

 private:
  struct Entry {
    std::string text;
    int32_t id;
    bool needs_trust;
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
