#include "base/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

namespace adit {
namespace {

using std::string_literals::operator""s;

TEST(Utf8, DecodesEveryCodePointThatItEncodes) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    AppendUtf8(c, text);
    const Utf8Char decoded = DecodeUtf8(text);
    ASSERT_TRUE(decoded.valid) << "code point " << static_cast<uint32_t>(c);
    ASSERT_EQ(decoded.code_point, c);
    ASSERT_EQ(decoded.length, text.size());
  }
}

TEST(Utf8, EncodesWhatIsNoCharacterAsReplacement) {
  for (char32_t c : {0xD800u, 0xDFFFu, 0x110000u, 0xFFFFFFFFu}) {
    std::string text;
    AppendUtf8(c, text);
    EXPECT_EQ(text, "\xEF\xBF\xBD");
  }
}

TEST(Utf8, RefusesOverlongFormsSurrogatesAndLargeNumbers) {
  for (const std::string& text :
       {"\xC0\x80"s, "\xC1\xBF"s, "\xE0\x80\x80"s, "\xE0\x9F\xBF"s, "\xED\xA0\x80"s, "\xED\xBF\xBF"s,
        "\xF0\x80\x80\x80"s, "\xF0\x8F\xBF\xBF"s, "\xF4\x90\x80\x80"s, "\xF5\x80\x80\x80"s, "\xFE"s, "\xFF"s, "\x80"s,
        "\xC3"s, "\xE2\x82"s, "\xF0\x9F\x98"s}) {
    EXPECT_FALSE(IsValidUtf8(text));
    EXPECT_FALSE(DecodeUtf8(text).valid);
  }
  for (const std::string& text : {""s, "\0"s, "\xC2\x80"s, "\xED\x9F\xBF"s, "\xEE\x80\x80"s, "\xF0\x90\x80\x80"s,
                                  "\xF4\x8F\xBF\xBF"s, "a\xC3\xA9z"s}) {
    EXPECT_TRUE(IsValidUtf8(text));
  }
}

// The example of the Unicode standard, section 3.9, table 3-8 and its neighbours.
TEST(Utf8, ReplacesMaximalSubparts) {
  const std::string fffd = "\xEF\xBF\xBD";
  EXPECT_EQ(ReplaceInvalidUtf8("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            fffd + fffd + fffd + fffd + fffd + fffd + fffd + fffd + "A");
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            fffd + fffd + fffd + fffd + fffd + fffd + fffd + fffd + "A");
  EXPECT_EQ(ReplaceInvalidUtf8("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            fffd + fffd + fffd + fffd + fffd + "A" + fffd + fffd + "B");
  EXPECT_EQ(ReplaceInvalidUtf8("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), fffd + fffd + fffd + fffd + "A");
  EXPECT_EQ(ReplaceInvalidUtf8("valid \xE2\x82\xAC"), "valid \xE2\x82\xAC");
}

TEST(Utf8, IncompleteSuffixIsTheStartOfACharacter) {
  const std::string grin = "\xF0\x9F\x98\x80";
  for (size_t n = 1; n < grin.size(); ++n) EXPECT_EQ(IncompleteUtf8Suffix("ab" + grin.substr(0, n)), n);
  EXPECT_EQ(IncompleteUtf8Suffix(grin), 0u);
  EXPECT_EQ(IncompleteUtf8Suffix(""), 0u);
  EXPECT_EQ(IncompleteUtf8Suffix("\x80"), 0u);
  EXPECT_EQ(IncompleteUtf8Suffix("\xFF"), 0u);
  EXPECT_EQ(IncompleteUtf8Suffix("\xED\xA0"), 0u) << "a surrogate can never become a character";
  EXPECT_EQ(IncompleteUtf8Suffix("\xF0\x80"), 0u) << "an overlong form can never become a character";
  EXPECT_EQ(IncompleteUtf8Suffix("\xE2\x82"), 2u);
  EXPECT_EQ(IncompleteUtf8Suffix("\xE2\xE2\x82"), 2u);
}

// What is held back at any cut is what a longer text may still complete, so replacing piece by piece loses nothing.
TEST(Utf8, ReplacingAroundTheSuffixEqualsReplacingTheWhole) {
  std::mt19937 rng(1);
  const std::string bytes = "a\x80\xBF\xC2\xC3\xE0\xE2\x82\xAC\xED\xA0\xF0\x9F\x98\x90\xF4\x8F\xFF"s;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = rng() % 12; i > 0; --i) text += bytes[rng() % bytes.size()];
    const size_t cut = text.empty() ? 0 : rng() % (text.size() + 1);
    const std::string head = text.substr(0, cut);
    const size_t held = IncompleteUtf8Suffix(head);
    ASSERT_LE(held, 3u);
    const size_t split = cut - held;
    ASSERT_EQ(ReplaceInvalidUtf8(text.substr(0, split)) + ReplaceInvalidUtf8(text.substr(split)),
              ReplaceInvalidUtf8(text))
        << "round " << round;
  }
}

}  // namespace
}  // namespace adit
