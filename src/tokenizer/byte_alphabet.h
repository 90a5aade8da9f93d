#ifndef ADIT_TOKENIZER_BYTE_ALPHABET_H_
#define ADIT_TOKENIZER_BYTE_ALPHABET_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// The alphabet in which byte-level BPE vocabularies are written (GPT-2, Radford et al. 2019): a printable character for
// each byte. Bytes that are printable in Latin-1 stand for themselves, the other 68 for U+0100 and up, in order.
namespace adit::tokenizer {

// The character for `byte`, in UTF-8.
std::string ByteCharacter(uint8_t byte);

// The characters for the bytes of `text`.
std::string EncodeByteLevel(std::string_view text);

// The byte that `code_point` stands for, if any.
std::optional<uint8_t> CharacterByte(char32_t code_point);

// The bytes that a vocabulary entry stands for. Characters outside the alphabet, and bytes that are not UTF-8, stand
// for themselves.
struct DecodedPiece {
  std::string bytes;
  bool in_alphabet = true;  // all characters are
};
DecodedPiece DecodeByteLevel(std::string_view piece);

}  // namespace adit::tokenizer

#endif  // ADIT_TOKENIZER_BYTE_ALPHABET_H_
