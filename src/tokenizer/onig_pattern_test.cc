#include "tokenizer/onig_pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "tokenizer/split_pattern.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> Matches(const std::string& pattern, const std::string& text) {
  const auto compiled = SplitPattern::FromOnig(pattern);
  EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
  std::vector<std::string> found;
  if (!compiled.ok()) return found;
  compiled->ForEachMatch(text, [&](size_t begin, size_t end) { found.push_back(text.substr(begin, end - begin)); });
  return found;
}

void ExpectRefused(const std::string& pattern, const std::string& reason) {
  const auto compiled = SplitPattern::FromOnig(pattern);
  ASSERT_FALSE(compiled.ok()) << pattern;
  EXPECT_THAT(compiled.status().message(), HasSubstr(reason));
}

TEST(OnigPattern, ClassesAreThoseOfUnicode) {
  EXPECT_THAT(Matches("\\s", "a\u0085b\u180Ec\u3000"), ElementsAre("\u0085", "\u3000"));
  EXPECT_THAT(Matches("[^\\s]+", "ab\u2003cd"), ElementsAre("ab", "cd"));
  EXPECT_THAT(Matches("\\w+", "e\u0301_x\u203Fy ²"), ElementsAre("e\u0301_x\u203Fy"));
  EXPECT_THAT(Matches("\\b\\w", "e\u0301a bc"), ElementsAre("e", "b"));
  EXPECT_THAT(Matches("\\h+", "xAf09z"), ElementsAre("Af09"));
  EXPECT_THAT(Matches("\\d+", "1٣²"), ElementsAre("1٣"));
}

TEST(OnigPattern, SyntaxOfRubyIsReadAsRubyDoes) {
  EXPECT_THAT(Matches("(?m:a.)", "a\nab"), ElementsAre("a\n", "ab"));
  EXPECT_THAT(Matches("a.", "a\nab"), ElementsAre("ab"));
  EXPECT_THAT(Matches("^.", "ab\ncd"), ElementsAre("a", "c"));
  EXPECT_THAT(Matches("(?:ab){1,2}+c", "ababababc"), ElementsAre("ababababc"));
  EXPECT_THAT(Matches("x{1,2}+x", "xxx"), ElementsAre("xxx"));
  EXPECT_THAT(Matches("x++x", "xxx"), IsEmpty());
  EXPECT_THAT(Matches("[^(\\s|[.,])]+", "ab.c|(d"), ElementsAre("ab", "c", "d"));
  EXPECT_THAT(Matches("[a[bc]]+", "abcd"), ElementsAre("abc"));
  EXPECT_THAT(Matches("\\u4f60", "你"), ElementsAre("你"));
  EXPECT_THAT(Matches("\\p{Han}+|\\p{^L}", "你好1"), ElementsAre("你好", "1"));
  EXPECT_THAT(Matches("a{", "a{"), ElementsAre("a{"));
  EXPECT_THAT(Matches("[]a]+", "a]"), ElementsAre("a]"));
}

TEST(OnigPattern, EmptyMatchesAreFoundOnceInAPlace) {
  EXPECT_THAT(Matches("x*", "axxb"), ElementsAre("", "xx", ""));
  EXPECT_THAT(Matches("(?=[A-Z])", "aBéC"), ElementsAre("", ""));
}

TEST(OnigPattern, WhatIsNotKnownIsRefused) {
  ExpectRefused("[a-z&&[b]]", "an intersection of sets");
  ExpectRefused("[a[^b]]", "a negated set within a set");
  ExpectRefused("[\\S]", "a negated class within a set");
  ExpectRefused("[a", "a set without end");
  ExpectRefused("a\\", "a backslash at the end");
  ExpectRefused("(a", "missing closing parenthesis");
  ExpectRefused("\\p{Nothing}", "unknown");
  ExpectRefused(std::string(20'000, 'a'), "a pattern of 20000 bytes");
  ExpectRefused(std::string(200, '(') + std::string(200, ')'), "too deeply nested");
  ExpectRefused("\\C", "");
}

TEST(OnigPattern, AQuotedTextMatchesItselfAlone) {
  const std::string text = "a.b*[x]\\ \n\u00E9-^$";
  const auto compiled = Regex::Compile(QuotePattern(text));
  ASSERT_TRUE(compiled.ok());
  Regex::Matcher matcher(*compiled);
  Regex::Match match{};
  ASSERT_TRUE(matcher.Find("__" + text + "__", 0, match));
  EXPECT_EQ(match.begin, 2u);
  EXPECT_EQ(match.end, 2 + text.size());
  EXPECT_FALSE(matcher.Find("axb*", 0, match));
}

TEST(OnigPattern, ASearchWithoutEndStops) {
  const std::string text(40, 'a');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(Matches("(a+)+b", text), IsEmpty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(OnigPattern, LongMatchesNeedNoStack) {
  const std::string text(200'000, 'a');
  EXPECT_THAT(Matches("(?:a|b)+", text), ElementsAre(text));
}

}  // namespace
}  // namespace adit::tokenizer
