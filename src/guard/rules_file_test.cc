#include "guard/rules_file.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "guard/guard_stream.h"
#include "guard/word_list.h"

namespace adit::guard {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(const std::string& text) {
  const auto rules = ParseRules(text, "r.toml", "");
  return rules.ok() ? "none" : rules.status().message();
}

std::string Rule(const std::string& rest) { return "[[rule]]\nname = 'n'\naction = 'flag'\n" + rest; }

TEST(RulesFile, ReadsAllFields) {
  const auto rules = ParseRules(
      "max_match_bytes = 256\n"
      "[[rule]]\nname = \"cards\"\naction = \"redact\"\npii = [\"card\", \"iban\"]\non = \"output\"\nreplacement = "
      "\"***\"\n"
      "[[rule]]\nname = \"names\"\naction = \"block\"\nwords = [\"Project X\"]\n",
      "r.toml", "");
  ASSERT_TRUE(rules.ok()) << rules.status().ToString();
  EXPECT_EQ((*rules)->max_match_bytes, 256u);
  const guard::Rule& cards = (*rules)->rules[0];
  EXPECT_EQ(cards.kind, "pii");
  EXPECT_EQ(cards.matchers.size(), 2u);
  EXPECT_FALSE(cards.on_input);
  EXPECT_EQ(cards.replacement, "***");
  EXPECT_TRUE((*rules)->rules[1].on_input);
  EXPECT_TRUE(GuardText(**rules, Side::kInput, "about project  x.").blocked);
}

TEST(RulesFile, TellsWhereWhatIsWrong) {
  EXPECT_THAT(ErrorOf("a = "), HasSubstr("guard: r.toml:1: "));
  EXPECT_THAT(ErrorOf("[\b\x01(a)?([\x16"), HasSubstr("guard: r.toml: not TOML"));
  // A letter that the parser takes for one that cannot be there.
  EXPECT_THAT(ErrorOf("t\u00df = 1"), HasSubstr("guard: r.toml:1: "));
  EXPECT_THAT(ErrorOf(""), HasSubstr("there are no rules"));
  EXPECT_THAT(ErrorOf("rules = 1"), HasSubstr("r.toml:1: 'rules' is not known; there are rule, max_match_bytes"));
  EXPECT_THAT(ErrorOf("max_match_bytes = 1\n" + Rule("regex='a'")), HasSubstr("64..16384"));
  EXPECT_THAT(ErrorOf("[[rule]]\naction='flag'"), HasSubstr("r.toml:1: a rule has no 'name'"));
  EXPECT_THAT(ErrorOf("[[rule]]\nname='a b'"), HasSubstr("r.toml:2: a 'name' has 1 to 64"));
  EXPECT_THAT(ErrorOf("[[rule]]\nname='n'\naction='drop'\nregex='a'"),
              HasSubstr("r.toml:3: rule 'n': 'action' is 'drop'; it is one of block, redact, flag"));
  EXPECT_THAT(ErrorOf("[[rule]]\nname='n'\nregex='a'"), HasSubstr("'action' is missing"));
  EXPECT_THAT(ErrorOf(Rule("regex='a'\non='all'")), HasSubstr("r.toml:5: rule 'n': 'on' is 'all'"));
  EXPECT_THAT(ErrorOf(Rule("regex='a('")), HasSubstr("r.toml:4: rule 'n': the expression is wrong at byte 2"));
  EXPECT_THAT(ErrorOf(Rule("regex='(*SKIP)a'")), HasSubstr("a verb"));
  EXPECT_THAT(ErrorOf(Rule("regex='a\\Gb'")), HasSubstr("\\G"));
  EXPECT_THAT(ErrorOf(Rule("regex=''")), HasSubstr("empty"));
  EXPECT_THAT(ErrorOf(Rule("regex=3")), HasSubstr("a text or a list of texts"));
  EXPECT_THAT(ErrorOf(Rule("")), HasSubstr("has one of 'regex'"));
  EXPECT_THAT(ErrorOf(Rule("regex='a'\npii='card'")), HasSubstr("has one of 'regex'"));
  EXPECT_THAT(ErrorOf(Rule("pii='name'")), HasSubstr("there are email, phone, card, iban"));
  EXPECT_THAT(ErrorOf(Rule("words=[]")), HasSubstr("nothing to look for"));
  EXPECT_THAT(ErrorOf(Rule("words=['a', 1]")), HasSubstr("not a text"));
  EXPECT_THAT(ErrorOf(Rule("words_file='nowhere'")), HasSubstr("No such file"));
  EXPECT_THAT(ErrorOf(Rule("regex='a'\nreplacement='x'")), HasSubstr("for the action redact alone"));
  EXPECT_THAT(ErrorOf(Rule("regex='a'\ncolour='x'")), HasSubstr("r.toml:5: rule 'n': 'colour' is not known"));
  EXPECT_THAT(ErrorOf(Rule("regex='a'\n") + Rule("regex='b'")), HasSubstr("another rule has this name"));
  EXPECT_EQ(ErrorOf(Rule("regex='\\(*[(*]\\QG(*\\E'")), "none");
}

TEST(RulesFile, WordsMayStandInAFile) {
  char folder[] = "/tmp/adit_guard_XXXXXX";
  ASSERT_NE(::mkdtemp(folder), nullptr);
  std::ofstream(std::string(folder) + "/words.txt") << "# comment\nheron\n\n  grey  heron \n";
  std::ofstream(std::string(folder) + "/r.toml") << "[[rule]]\nname='w'\naction='redact'\nwords_file='words.txt'\n";
  const auto rules = LoadRules(std::string(folder) + "/r.toml");
  ASSERT_TRUE(rules.ok()) << rules.status().ToString();
  EXPECT_EQ(GuardText(**rules, Side::kInput, "A Grey Heron, herons, heron").text, "A [w], herons, [w]");
  EXPECT_FALSE(LoadRules(std::string(folder)).ok());
  std::filesystem::remove_all(folder);
}

TEST(WordList, FindsEachOfManyWordsAndTheLongest) {
  std::vector<std::string> words;
  for (int i = 0; i < 3000; ++i) words.push_back(fmt::format("word{}x", i * 7));
  words.insert(words.end(), {"new", "new york", "New York City", "c++", "a.b"});
  std::string text = "[[rule]]\nname='w'\naction='redact'\nreplacement='#'\nwords=[";
  for (const std::string& word : words) text += "'" + word + "',";
  const auto rules = ParseRules(text + "]\n", "r.toml", "");
  ASSERT_TRUE(rules.ok()) << rules.status().ToString();
  EXPECT_GT((*rules)->rules[0].matchers.size(), 1u);
  const auto hidden = [&rules](const char* in) { return GuardText(**rules, Side::kInput, in).text; };
  EXPECT_EQ(hidden("word7x word8x WORD20993x"), "# word8x #");
  EXPECT_EQ(hidden("new york city; new york; newyork; new"), "#; #; newyork; #");
  EXPECT_EQ(hidden("c++ a.b axb"), "# # axb");
}

}  // namespace
}  // namespace adit::guard
