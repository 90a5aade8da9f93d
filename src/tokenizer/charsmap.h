#ifndef ADIT_TOKENIZER_CHARSMAP_H_
#define ADIT_TOKENIZER_CHARSMAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::tokenizer {

// SentencePiece's table of normalisation rules (`precompiled_charsmap`): from a short text to what it becomes. The
// format: four bytes, little-endian, the size of the trie; the trie, a double array of Darts-clone with 4-byte units;
// then the replacements, each ended by a zero byte, which the trie's values are offsets of.
//
// A unit holds, from its lowest bit: 8 bits of label, bit 8 whether a value hangs below, bit 9 whether the offset
// counts in 256ths, 22 bits of offset. A unit that is a value has bit 31 set.
class Charsmap {
 public:
  struct Rule {
    size_t length;                 // bytes of the text that it takes
    std::string_view replacement;  // borrowed from the table
  };

  // Corrupt if the sizes disagree. `where` begins the message.
  static Result<Charsmap> Parse(std::string_view bytes, const std::string& where);

  // The rule for the shortest or the longest start of `text` that has one.
  std::optional<Rule> Shortest(std::string_view text) const { return Search(text, /*longest=*/false); }
  std::optional<Rule> Longest(std::string_view text) const { return Search(text, /*longest=*/true); }

  // Bytes of the longest replacement.
  size_t max_replacement_bytes() const { return max_replacement_bytes_; }

 private:
  std::optional<Rule> Search(std::string_view text, bool longest) const;

  std::vector<uint32_t> units_;
  std::string replacements_;  // ends with a zero byte
  size_t max_replacement_bytes_ = 0;
};

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_CHARSMAP_H_
