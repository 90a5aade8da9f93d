#include "grammar/regex_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::grammar {
namespace {

using ::testing::HasSubstr;

StatusCode CodeOf(std::string_view regex, RegexUse use = RegexUse::kText) { return CheckRegex(regex, use).code(); }

TEST(RegexCheck, TakesWhatIsEnforced) {
  for (const char* regex : {"a", "", "^ab$", "[a-z]+", "(a|b)*c?", "(?:x){2,5}", "\\d{3}-\\w+", "[^\"\\\\]*", "a*?",
                            "\\u00e4\\x41", "ä+", "[\\d_-]", "\\.", "(((a)))", ".{1,1024}"}) {
    EXPECT_EQ(CodeOf(regex), StatusCode::kOk) << regex << ": " << CheckRegex(regex, RegexUse::kText).message();
  }
}

TEST(RegexCheck, RefusesWhatWouldBePassedOverByName) {
  for (const char* regex : {"a(?=b)", "(?!a)b", "(?<=a)b", "(?i)a", "(?<n>a)", "a^b", "a$b", "(^a)", "\\bword",
                            "\\p{L}", "\\1", "\\k", "[[:alpha:]]", "\\A"}) {
    EXPECT_EQ(CodeOf(regex), StatusCode::kUnsupported) << regex;
  }
}

TEST(RegexCheck, RefusesWhatIsNoExpression) {
  for (const char* regex : {"(", ")", "[", "[]", "a{", "a{x}", "a{5,2}", "*a", "a**", "a|*", "\\", "\\xg1", "]", "}",
                            "\xff", "(a{100}){100}"}) {
    EXPECT_EQ(CodeOf(regex), StatusCode::kInvalidArgument) << regex;
  }
  EXPECT_THAT(CheckRegex("ab(c", RegexUse::kText).message(), HasSubstr("byte 2"));
}

TEST(RegexCheck, BoundsDepthAndSize) {
  EXPECT_EQ(CodeOf(std::string(60'000, '(')), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(std::string(kMaxRegexDepth, '(') + std::string(kMaxRegexDepth, ')')), StatusCode::kOk);
  EXPECT_EQ(CodeOf(std::string(kMaxRegexDepth + 1, '(')), StatusCode::kInvalidArgument);
  EXPECT_EQ(CodeOf(std::string(kMaxRegexBytes + 1, 'a')), StatusCode::kInvalidArgument);
}

TEST(RegexCheck, InsideJsonNothingIsMatchedThatNeedsABackslash) {
  for (const char* regex : {"\"", "\\\\", "\\n", "[\"a]", "\\x22", "\\u0001", "[\\t]"}) {
    EXPECT_EQ(CodeOf(regex, RegexUse::kJsonString), StatusCode::kUnsupported) << regex;
  }
  for (const char* regex : {"[^\"]*", "\\S+", ".*", "[^\\n]{2,3}", "a/b"}) {
    EXPECT_EQ(CodeOf(regex, RegexUse::kJsonString), StatusCode::kOk) << regex;
  }
}

}  // namespace
}  // namespace adit::grammar
