#include "grammar/rule_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::grammar {
namespace {

using ::testing::HasSubstr;

TEST(RuleCheck, TakesRules) {
  for (const char* rules : {"root ::= \"a\"", "# (((\nroot ::= [(\\]] b{2,3}\nb ::= \")\"\n",
                            "a ::= \"x\"\n root ::= a+", "root[max_tokens=5] ::= \"a\"*"}) {
    EXPECT_TRUE(CheckRules(rules).ok()) << rules << ": " << CheckRules(rules).message();
  }
}

TEST(RuleCheck, TellsTheLine) {
  EXPECT_THAT(CheckRules("root ::= a\na ::= \"x\"{5,0}").message(), HasSubstr("line 2"));
  EXPECT_THAT(CheckRules("root ::= \"a").message(), HasSubstr("line 1"));
  EXPECT_THAT(CheckRules("root ::= a)").message(), HasSubstr("line 1"));
}

TEST(RuleCheck, RefusesWhatIsTooMuch) {
  const std::string root = "root ::= ";
  EXPECT_FALSE(CheckRules(root + std::string(60'000, '(')).ok());
  EXPECT_FALSE(CheckRules(root + "\"a\"{1000000000}").ok());
  EXPECT_FALSE(CheckRules(root + "\"a\"{0, 99999999999999999999}").ok());
  EXPECT_FALSE(CheckRules(root + "\"" + std::string(kMaxRuleBytes, 'a') + "\"").ok());
  EXPECT_FALSE(CheckRules("root ::= \"\xff\"").ok());
}

TEST(RuleCheck, WantsARoot) {
  for (const char* rules : {"", "a ::= \"b\"", "roots ::= \"b\"", "# root ::= \"b\""}) {
    EXPECT_THAT(CheckRules(rules).message(), HasSubstr("no rule 'root'")) << rules;
  }
}

}  // namespace
}  // namespace adit::grammar
