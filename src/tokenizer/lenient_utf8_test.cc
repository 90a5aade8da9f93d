#include "tokenizer/lenient_utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/utf8.h"

namespace adit::tokenizer {
namespace {

TEST(LenientUtf8, KeepsValidText) {
  for (const std::string text : {"", "abc", "é你🙂", "\xEF\xBF\xBD\xF4\x8F\xBF\xBF"})
    EXPECT_EQ(RewriteLenient(text), text);
}

TEST(LenientUtf8, ReplacesEachByteThatIsNoCharacter) {
  const std::string fffd = "\uFFFD";
  EXPECT_EQ(RewriteLenient("\x80"), fffd);
  EXPECT_EQ(RewriteLenient("\xE4\xBD"), fffd + fffd);
  EXPECT_EQ(RewriteLenient("\xF0\x9F\x99"), fffd + fffd + fffd);
  EXPECT_EQ(RewriteLenient("a\xC3("), "a" + fffd + "(");
  EXPECT_EQ(RewriteLenient("\xFF\xFE"), fffd + fffd);
  EXPECT_EQ(RewriteLenient("\xF4\x90\x80\x80"), fffd + fffd + fffd + fffd);
}

TEST(LenientUtf8, ShortensOverlongFormsAndKeepsSurrogates) {
  EXPECT_EQ(RewriteLenient("\xC0\x80"), std::string(1, '\0'));
  EXPECT_EQ(RewriteLenient("\xE0\x81\xA1"), "a");
  EXPECT_EQ(RewriteLenient("\xF0\x80\x81\xA1"), "a");
  EXPECT_EQ(RewriteLenient("\xED\xA0\xBD\xED\xB8\x80"), "\xED\xA0\xBD\xED\xB8\x80");
}

TEST(LenientUtf8, ResultIsStableAndItsFirstBytesTellLengths) {
  constexpr uint32_t kSeed = 3;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = rng() % 10; i > 0; --i) text += static_cast<char>(rng() % 4 == 0 ? rng() % 128 : 128 + rng() % 128);
    const std::string rewritten = RewriteLenient(text);
    ASSERT_EQ(RewriteLenient(rewritten), rewritten) << "seed " << kSeed << " round " << round;
    for (size_t pos = 0; pos < rewritten.size();) {
      const LenientChar c = DecodeLenient(std::string_view(rewritten).substr(pos));
      ASSERT_EQ(c.length, CharLength(rewritten[pos])) << "seed " << kSeed << " round " << round;
      pos += c.length;
    }
    if (IsValidUtf8(text)) {
      ASSERT_EQ(rewritten, text);
    }
  }
}

}  // namespace
}  // namespace adit::tokenizer
