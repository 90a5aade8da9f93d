#ifndef ADIT_TOKENIZER_UNICODE_CLASS_H_
#define ADIT_TOKENIZER_UNICODE_CLASS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace adit::tokenizer {

// What pre-tokenizers ask of a character; a set of bits. No bit: anything else, such as most symbols and controls.
enum CharClass : uint8_t {
  kLetter = 1,        // \p{L}
  kNumber = 2,        // \p{N}
  kSpace = 4,         // \s: the White_Space property
  kNewline = 8,       // \r and \n, which are kSpace too
  kMark = 16,         // \p{M}
  kPunctuation = 32,  // \p{P}
};

// Classes of all code points, in two stages: blocks of 256, equal blocks stored once. About 50 KB, built on first use
// from utf8proc's categories (Unicode 15). Read-only after that.
class UnicodeClasses {
 public:
  static const UnicodeClasses& Get();

  // 0 for numbers above U+10FFFF and for surrogates.
  uint8_t Of(char32_t code_point) const {
    if (code_point >= kNumCodePoints) return 0;
    return blocks_[size_t{block_index_[code_point / kBlockSize]} * kBlockSize + code_point % kBlockSize];
  }

 private:
  static constexpr char32_t kNumCodePoints = 0x110000;
  static constexpr char32_t kBlockSize = 256;

  UnicodeClasses();

  std::array<uint16_t, kNumCodePoints / kBlockSize> block_index_{};
  std::vector<uint8_t> blocks_;
};

// \w of regular expressions: letters, marks, decimal and letter numbers, connectors and joiners.
bool IsWordCharacter(char32_t code_point);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_UNICODE_CLASS_H_
