#include "guard/guard_stream.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/rng.h"
#include "base/utf8.h"
#include "guard/rules_file.h"

namespace adit::guard {
namespace {

using ::testing::StartsWith;

// Kept, so that verdicts may point into them.
std::shared_ptr<const Rules> Parsed(const std::string& text) {
  static std::vector<std::shared_ptr<const Rules>> kept;
  auto rules = ParseRules(text, "rules.toml", "");
  EXPECT_TRUE(rules.ok()) << rules.status().ToString();
  kept.push_back(rules.ok() ? *rules : std::make_shared<const Rules>());
  return kept.back();
}

// A rule for an expression, with the longest match given.
std::shared_ptr<const Rules> One(const std::string& expression, const std::string& action = "redact",
                                 int max_match_bytes = 64) {
  return Parsed(fmt::format("max_match_bytes = {}\n[[rule]]\nname = \"r\"\naction = \"{}\"\nregex = '{}'\n",
                            max_match_bytes, action, expression));
}

std::string Redacted(const Rules& rules, std::string_view text) { return GuardText(rules, Side::kOutput, text).text; }

std::string Told(const std::vector<Verdict>& verdicts) {
  std::string told;
  for (const Verdict& v : verdicts) told += fmt::format("{}={}{} ", v.rule->name, v.count, v.gave_up ? "!" : "");
  return told;
}

TEST(GuardStream, RedactsBlocksAndFlags) {
  EXPECT_EQ(Redacted(*One("b+"), "abba b"), "a[r]a [r]");
  const auto blocked = GuardText(*One("bad", "block"), Side::kOutput, "so bad it is");
  EXPECT_TRUE(blocked.blocked);
  EXPECT_EQ(blocked.text, "so ");
  EXPECT_EQ(Told(blocked.verdicts), "r=1 ");
  const auto flagged = GuardText(*One("bad", "flag"), Side::kOutput, "bad, bad");
  EXPECT_FALSE(flagged.blocked);
  EXPECT_EQ(flagged.text, "bad, bad");
  EXPECT_EQ(Told(flagged.verdicts), "r=2 ");
}

TEST(GuardStream, HoldsBackWhatMayBecomeAMatchAndNothingElse) {
  const auto rules = One("secret word");
  GuardStream stream(*rules, Side::kOutput);
  std::string out;
  stream.Append("the sec", out);
  EXPECT_EQ(out, "the ");
  stream.Append("ond s", out);
  EXPECT_EQ(out, "the second ");
  stream.Append("ecret wor", out);
  EXPECT_EQ(out, "the second ");
  stream.Append("d is", out);
  EXPECT_EQ(out, "the second [r] i");
  stream.Finish(out);
  EXPECT_EQ(out, "the second [r] is");
}

TEST(GuardStream, RulesThatFlagHoldNothingBack) {
  const auto rules = One("secret", "flag");
  GuardStream stream(*rules, Side::kOutput);
  std::string out;
  stream.Append("a sec", out);
  EXPECT_EQ(out, "a sec");
  stream.Append("ret", out);
  stream.Finish(out);
  EXPECT_EQ(out, "a secret");
  EXPECT_EQ(Told(stream.verdicts()), "r=1 ");
}

TEST(GuardStream, NeverHoldsMoreThanTheLongestMatch) {
  const auto rules = One("a.*b");
  GuardStream stream(*rules, Side::kOutput);
  std::string out;
  for (size_t i = 1; i <= 1000; ++i) {
    stream.Append("a", out);
    EXPECT_GE(out.size() + 64, i);
  }
  stream.Append("b", out);
  stream.Finish(out);
  EXPECT_EQ(out, std::string(1001 - 64, 'a') + "[r]");
}

TEST(GuardStream, AnchorsAndLookbehindSeeTheWholeText) {
  const std::string filler(5000, 'x');
  EXPECT_EQ(Redacted(*One("^x"), filler), "[r]" + filler.substr(1));
  EXPECT_EQ(Redacted(*One("(?<=^xx)x"), filler), "xx[r]" + filler.substr(3));
  EXPECT_EQ(Redacted(*One("x$"), filler), filler.substr(1) + "[r]");
  EXPECT_EQ(Redacted(*One("\\bfoo\\b"), "food foo"), "food [r]");
  EXPECT_EQ(Redacted(*One("(?m)^b$"), "ab\nb\nbc\nb"), "ab\n[r]\nbc\n[r]");
  EXPECT_EQ(Redacted(*One("a(?=b)"), "aab"), "a[r]b");
}

TEST(GuardStream, OverlappingFindsAreReplacedOnce) {
  const auto rules = Parsed(
      "[[rule]]\nname='first'\naction='redact'\nregex='abc'\n[[rule]]\nname='second'\naction='redact'\nregex='bcd'\n");
  EXPECT_EQ(Redacted(*rules, "xabcdy"), "x[first]y");
  EXPECT_EQ(Redacted(*rules, "xbcdy"), "x[second]y");
}

TEST(GuardStream, SidesArePartedAndNothingIsDoneWithoutRules) {
  const auto rules = Parsed("[[rule]]\nname='a'\naction='redact'\nregex='a'\non='input'\n");
  EXPECT_EQ(GuardText(*rules, Side::kInput, "aba").text, "[a]b[a]");
  EXPECT_EQ(GuardText(*rules, Side::kOutput, "aba").text, "aba");
  EXPECT_TRUE(rules->Changes(Side::kInput));
  EXPECT_FALSE(rules->Any(Side::kOutput));
}

TEST(GuardStream, WhatIsShownOnTheWayStaysPartOfAMatch) {
  const auto rules = One("abcd", "block");
  GuardStream stream(*rules, Side::kOutput);
  std::string out;
  stream.Append("xab", out);
  stream.Flush(out);
  EXPECT_EQ(out, "xab");
  stream.Append("cdef", out);
  EXPECT_TRUE(stream.blocked());
  EXPECT_EQ(out, "xab");
}

TEST(GuardStream, WhatIsLetOutOnTheWayHasPassedTheRules) {
  const auto rules = One("ab+c?");
  GuardStream stream(*rules, Side::kOutput);
  std::string out;
  stream.Append("xabb", out);
  EXPECT_EQ(out, "x");
  stream.Flush(out);
  EXPECT_EQ(out, "x[r]");
  stream.Append("bcabcd", out);
  stream.Finish(out);
  EXPECT_EQ(out, "x[r]bc[r]d");
}

TEST(GuardStream, WorkWithoutEndIsGivenUp) {
  const std::string text = "so " + std::string(60, 'a') + "!";
  const auto blocked = GuardText(*One("(?:a+)+(?:a+)+(?:a+)+b", "redact"), Side::kInput, text);
  EXPECT_TRUE(blocked.blocked) << "what cannot be judged is not let through";
  EXPECT_EQ(Told(blocked.verdicts), "r=1! ");
  const auto flagged = GuardText(*One("(?:a+)+(?:a+)+(?:a+)+b", "flag"), Side::kInput, text);
  EXPECT_EQ(flagged.text, text);
  EXPECT_EQ(Told(flagged.verdicts), "r=1! ");
}

TEST(GuardStream, BytesThatAreNoTextBecomeReplacements) {
  EXPECT_EQ(Redacted(*One("\\x{FFFD}b"),
                     "a\xFF"
                     "b\xF0\x9F"),
            "a[r]\xEF\xBF\xBD");
}

// Rules of many kinds, for random texts over few letters.
const std::vector<std::string>& ManyRules() {
  static const std::vector<std::string> kRules = {
      "max_match_bytes = 64\n[[rule]]\nname='a'\naction='redact'\nregex=['ab+c', 'c(?=a)', '(?<=bb)a']\n"
      "[[rule]]\nname='b'\naction='flag'\nregex=['b.{1,5}a', '\\bc\\b']\n"
      "[[rule]]\nname='c'\naction='block'\nregex='cab cab'\n",
      "max_match_bytes = 64\n[[rule]]\nname='a'\naction='redact'\nregex='a.*b'\nreplacement=''\n"
      "[[rule]]\nname='b'\naction='redact'\nregex=['^a', 'b$', '(?m)^b', '(?m)c$']\n",
      "max_match_bytes = 64\n[[rule]]\nname='w'\naction='redact'\nwords=['ab', 'ab c', 'abc', 'c a b', 'é']\n"
      "[[rule]]\nname='x'\naction='flag'\nregex=['(a|b)*c', '(?s)b.+']\n",
      "max_match_bytes = 64\n[[rule]]\nname='p'\naction='redact'\npii=['email', 'card', 'phone', 'ip', 'ipv6', 'iban', "
      "'ssn']\n"
      "[[rule]]\nname='q'\naction='block'\nregex='0000'\n",
      "max_match_bytes = 64\n[[rule]]\nname='k'\naction='redact'\nregex=['a\\Kb', '(?i)ABa', '[^a]b{2,}', 'a??b', "
      "'(?!b)\\w{3}']\n"};
  return kRules;
}

std::string RandomText(uint64_t seed, std::string_view letters, uint64_t length) {
  std::string text;
  const std::string alphabet(letters);
  for (uint64_t i = 0; i < length; ++i) {
    const uint64_t bits = RandomBits(seed, i);
    if (bits % 37 == 0) {
      text += "\xC3\xA9";
    } else {
      text += alphabet[(bits >> 8) % alphabet.size()];
    }
  }
  return text;
}

TEST(GuardStream, HoweverATextIsCutTheOutcomeIsTheSame) {
  for (size_t kind = 0; kind < ManyRules().size(); ++kind) {
    const auto rules = Parsed(ManyRules()[kind]);
    for (uint64_t seed = 0; seed < 400; ++seed) {
      const uint64_t length = RandomBits(seed, 1'000'000) % 200;
      const std::string text = RandomText(seed, kind == 3 ? "4111 @.+:a0-Z" : "abc \n", length);
      const Guarded whole = GuardText(*rules, Side::kOutput, text);
      for (uint64_t cut = 0; cut < 6; ++cut) {
        GuardStream stream(*rules, Side::kOutput);
        std::string out;
        for (size_t at = 0, i = 0; at < text.size(); ++i) {
          const size_t piece = cut == 0 ? 1 : 1 + RandomBits(seed, i, /*stream=*/cut) % (cut * cut * 4);
          stream.Append(std::string_view(text).substr(at, piece), out);
          at += piece;
          ASSERT_TRUE(whole.text.starts_with(out)) << kind << " " << seed << " '" << text << "': '" << out << "'";
        }
        stream.Finish(out);
        ASSERT_EQ(out, whole.text) << kind << " " << seed << " " << cut << " '" << text << "'";
        ASSERT_EQ(stream.blocked(), whole.blocked);
        ASSERT_EQ(Told(stream.verdicts()), Told(whole.verdicts)) << kind << " " << seed << " '" << text << "'";
      }
    }
  }
}

// What is found in a text that fits into one look is what PCRE2 finds in it.
TEST(GuardStream, FindsWhatTheExpressionMeans) {
  for (const std::string expression : {"ab+c", "a.*b", "(a|b)*c", "\\bab", "b$", "(?<=a)b", "c(?=a)"}) {
    const auto rules = One(expression, "redact", 1024);
    auto pattern = Pattern::Compile(expression, false);
    ASSERT_TRUE(pattern.ok());
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const std::string text = RandomText(seed, "abc \n", seed % 60);
      Pattern::Scratch scratch(**pattern);
      std::string expected;
      size_t at = 0;
      while (at < text.size()) {
        const auto found = (*pattern)->Search(text, at, Pattern::End::kClosed, false, scratch);
        if (found.outcome != Pattern::Outcome::kFound) break;
        expected += text.substr(at, found.begin - at) + "[r]";
        at = found.end;
      }
      expected += text.substr(at);
      ASSERT_EQ(Redacted(*rules, text), expected) << expression << " '" << text << "'";
    }
  }
}

}  // namespace
}  // namespace adit::guard
