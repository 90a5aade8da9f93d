#include "tokenizer/byte_alphabet.h"

#include <array>

#include "base/utf8.h"

namespace adit::tokenizer {
namespace {

constexpr char32_t kFirstShifted = 0x100;
constexpr size_t kNumShifted = 68;

constexpr bool StandsForItself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE && byte <= 0xFF);
}

// The bytes that do not stand for themselves, ascending.
constexpr std::array<uint8_t, kNumShifted> ShiftedBytes() {
  std::array<uint8_t, kNumShifted> bytes{};
  size_t n = 0;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    if (!StandsForItself(byte)) bytes[n++] = static_cast<uint8_t>(byte);
  }
  return bytes;
}

constexpr std::array<uint8_t, kNumShifted> kShifted = ShiftedBytes();

}  // namespace

std::string ByteCharacter(uint8_t byte) {
  char32_t code_point = byte;
  if (!StandsForItself(byte)) {
    for (size_t i = 0; i < kNumShifted; ++i) {
      if (kShifted[i] == byte) code_point = kFirstShifted + static_cast<char32_t>(i);
    }
  }
  std::string out;
  AppendUtf8(code_point, out);
  return out;
}

std::string EncodeByteLevel(std::string_view text) {
  static const std::array<std::string, 256> characters = [] {
    std::array<std::string, 256> made;
    for (size_t byte = 0; byte < 256; ++byte) made[byte] = ByteCharacter(static_cast<uint8_t>(byte));
    return made;
  }();
  std::string out;
  out.reserve(text.size() + text.size() / 2);
  for (const char byte : text) out.append(characters[static_cast<unsigned char>(byte)]);
  return out;
}

std::optional<uint8_t> CharacterByte(char32_t code_point) {
  if (code_point >= kFirstShifted && code_point < kFirstShifted + kNumShifted)
    return kShifted[code_point - kFirstShifted];
  if (code_point < 256 && StandsForItself(code_point)) return static_cast<uint8_t>(code_point);
  return std::nullopt;
}

DecodedPiece DecodeByteLevel(std::string_view piece) {
  DecodedPiece decoded;
  while (!piece.empty()) {
    const Utf8Char c = DecodeUtf8(piece);
    const std::optional<uint8_t> byte = c.valid ? CharacterByte(c.code_point) : std::nullopt;
    if (byte) {
      decoded.bytes += static_cast<char>(*byte);
    } else {
      decoded.bytes.append(piece.substr(0, c.length));
      decoded.in_alphabet = false;
    }
    piece.remove_prefix(c.length);
  }
  return decoded;
}

}  // namespace adit::tokenizer
