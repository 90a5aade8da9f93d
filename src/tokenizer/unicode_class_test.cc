#include "tokenizer/unicode_class.h"

#include <gtest/gtest.h>

#include <string>

#include "base/utf8.h"
#include "tokenizer/regex_oracle.h"

namespace adit::tokenizer {
namespace {

// PCRE2's tables are of another Unicode version, so characters that it does not know yet are left out.
TEST(UnicodeClasses, AgreeWithPcre2OnEveryCodePoint) {
  const OracleRegex letter("\\p{L}"), number("\\p{N}"), mark("\\p{M}"), punctuation("\\p{P}"), unassigned("\\p{Cn}");
  const UnicodeClasses& classes = UnicodeClasses::Get();
  int num_unassigned = 0;
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(c, text);
    if (unassigned.FullMatch(text)) {
      ++num_unassigned;
      continue;
    }
    const uint8_t of = classes.Of(c);
    const auto number_of_c = static_cast<uint32_t>(c);
    ASSERT_EQ((of & kLetter) != 0, letter.FullMatch(text)) << std::hex << number_of_c;
    ASSERT_EQ((of & kNumber) != 0, number.FullMatch(text)) << std::hex << number_of_c;
    ASSERT_EQ((of & kMark) != 0, mark.FullMatch(text)) << std::hex << number_of_c;
    ASSERT_EQ((of & kPunctuation) != 0, punctuation.FullMatch(text)) << std::hex << number_of_c;
  }
  EXPECT_LT(num_unassigned, 850'000) << "most of the assigned characters must have been compared";
}

// U+180E is white space to PCRE2 for its own reasons; Unicode took it off the list in version 6.3.
TEST(UnicodeClasses, SpacesAreTheWhiteSpaceProperty) {
  const OracleRegex space("\\s");
  const UnicodeClasses& classes = UnicodeClasses::Get();
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(c, text);
    ASSERT_EQ((classes.Of(c) & kSpace) != 0, c != 0x180E && space.FullMatch(text))
        << std::hex << static_cast<uint32_t>(c);
  }
}

TEST(UnicodeClasses, OnlyTwoCharactersAreNewlines) {
  const UnicodeClasses& classes = UnicodeClasses::Get();
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    ASSERT_EQ((classes.Of(c) & kNewline) != 0, c == '\r' || c == '\n') << std::hex << static_cast<uint32_t>(c);
  }
}

TEST(UnicodeClasses, SurrogatesAndLargeNumbersHaveNone) {
  const UnicodeClasses& classes = UnicodeClasses::Get();
  for (const char32_t c : {0xD800u, 0xDFFFu, 0x110000u, 0xFFFFFFFFu}) EXPECT_EQ(classes.Of(c), 0);
}

}  // namespace
}  // namespace adit::tokenizer
