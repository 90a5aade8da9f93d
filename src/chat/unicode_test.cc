#include "chat/unicode.h"

#include <gtest/gtest.h>

#include <string>

namespace adit::chat {
namespace {

std::u32string Upper(char32_t c) { return std::u32string(ToUpper(c).view()); }

TEST(Unicode, MapsCaseInFull) {
  EXPECT_EQ(Upper(U'a'), U"A");
  EXPECT_EQ(Upper(U'ß'), U"SS");
  EXPECT_EQ(Upper(U'ﬃ'), U"FFI");
  EXPECT_EQ(Upper(U'ÿ'), U"Ÿ");
  EXPECT_EQ(std::u32string(ToTitle(U'ǆ').view()), U"ǅ");
  EXPECT_EQ(std::u32string(ToTitle(U'ﬁ').view()), U"Fi");
  EXPECT_EQ(std::u32string(ToLower(0x130).view()), U"i\u0307");
  EXPECT_EQ(std::u32string(ToFolded(U'ß').view()), U"ss");
}

TEST(Unicode, ClassifiesLikePython) {
  EXPECT_TRUE(IsSpace(0x3000) && IsSpace(0x1F) && !IsSpace(0x200B));
  EXPECT_TRUE(IsDecimal(U'٣') && !IsDecimal(U'²') && IsDigit(U'²') && !IsDigit(U'½') && IsNumeric(U'½') &&
              IsNumeric(U'一'));
  EXPECT_TRUE(IsLower(U'ª') && IsUpper(U'Ⅷ') && IsTitle(U'ǅ') && !IsCased(U'中') && IsAlpha(U'中'));
  EXPECT_TRUE(IsPrintable(U' ') && !IsPrintable(0xA0) && !IsPrintable(0x200B) && IsPrintable(U'é'));
  EXPECT_TRUE(IsIdentifierStart(U'_') && !IsIdentifierStart(U'1') && IsIdentifierPart(U'1') && !IsIdentifierPart(U'-'));
}

TEST(Unicode, ReadsDigitsOfAllScripts) {
  for (int i = 0; i < 10; ++i) {
    const auto offset = static_cast<char32_t>(i);
    EXPECT_EQ(DecimalValue(U'0' + offset), i);
    EXPECT_EQ(DecimalValue(0x660 + offset), i);
    EXPECT_EQ(DecimalValue(0x1D7CE + offset), i);       // bold digits: five styles follow each other
    EXPECT_EQ(DecimalValue(0x1D7CE + 40 + offset), i);  // the last of them
  }
  EXPECT_EQ(DecimalValue(U'a'), -1);
}

}  // namespace
}  // namespace adit::chat
