#include "tokenizer/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/utf8.h"

namespace adit::tokenizer {
namespace {

TEST(ByteAlphabet, EveryByteHasACharacterOfItsOwn) {
  std::set<std::string> characters;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string character = ByteCharacter(static_cast<uint8_t>(byte));
    characters.insert(character);
    EXPECT_EQ(CharacterByte(DecodeUtf8(character).code_point), byte);
  }
  EXPECT_EQ(characters.size(), 256u);
}

TEST(ByteAlphabet, EqualsThePublishedTable) {
  EXPECT_EQ(ByteCharacter(' '), "Ġ");
  EXPECT_EQ(ByteCharacter('\n'), "Ċ");
  EXPECT_EQ(ByteCharacter('\t'), "ĉ");
  EXPECT_EQ(ByteCharacter('a'), "a");
  EXPECT_EQ(ByteCharacter(0x00), "Ā");
  EXPECT_EQ(ByteCharacter(0x7F), "ġ");
  EXPECT_EQ(ByteCharacter(0xA0), "ł");
  EXPECT_EQ(ByteCharacter(0xAD), "Ń");
  EXPECT_EQ(ByteCharacter(0xFF), "ÿ");
}

TEST(ByteAlphabet, CharactersOutsideStandForThemselves) {
  const DecodedPiece inside = DecodeByteLevel("ĠhÃ©");
  EXPECT_EQ(inside.bytes, " hé");
  EXPECT_TRUE(inside.in_alphabet);
  const DecodedPiece outside = DecodeByteLevel("a▁\xFF\xFE");
  EXPECT_EQ(outside.bytes, "a▁\xFF\xFE");
  EXPECT_FALSE(outside.in_alphabet);
  EXPECT_EQ(DecodeByteLevel("").bytes, "");
  EXPECT_FALSE(CharacterByte(0x144));
  EXPECT_FALSE(CharacterByte(' '));
}

}  // namespace
}  // namespace adit::tokenizer
