#ifndef ADIT_TOKENIZER_LENIENT_UTF8_H_
#define ADIT_TOKENIZER_LENIENT_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

// UTF-8 as the reference tokenizer for byte-level BPE reads it: by the shape of the bytes alone. Overlong forms and
// surrogates count as characters, and a byte that starts no complete character counts as U+FFFD, each for itself.
// docs/tokenizers.md says why.
namespace adit::tokenizer {

struct LenientChar {
  char32_t code_point = 0;
  size_t length = 0;  // bytes taken, at least 1
};

// Precondition: text is not empty.
LenientChar DecodeLenient(std::string_view text);

// `text` read so and written again in shortest form; a surrogate keeps its three bytes. Equal to `text` if that is
// UTF-8. In the result every character is complete, so its first byte tells its length.
std::string RewriteLenient(std::string_view text);

// Bytes of the character that starts with `lead`, in text as RewriteLenient returns it.
inline size_t CharLength(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xC0) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_LENIENT_UTF8_H_
