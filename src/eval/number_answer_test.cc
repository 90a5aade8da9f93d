#include "eval/number_answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::eval {
namespace {

using ::testing::HasSubstr;

TEST(ParseGsm8k, TakesTheNumberBehindTheMark) {
  const Result<NumberItem> item =
      ParseGsm8k(R"({"question":"How many?","answer":"3*400=<<3*400=1200>>1200.\n#### 1,200"})", "f:1");
  ASSERT_TRUE(item.ok()) << item.status().ToString();
  EXPECT_EQ(item->number, "1200");
  EXPECT_EQ(NumberPrompt(*item), "Question: How many?\nAnswer:");
  EXPECT_THAT(AsNumberExample(*item), HasSubstr("Answer: 3*400="));
}

TEST(ParseGsm8k, SaysWhatIsWrong) {
  EXPECT_THAT(ParseGsm8k(R"({"question":"a"})", "f:2").status().message(), HasSubstr("f:2: no \"answer\""));
  EXPECT_THAT(ParseGsm8k(R"({"question":"a","answer":"42"})", "f:2").status().message(), HasSubstr("'#### '"));
  EXPECT_THAT(ParseGsm8k(R"({"question":3,"answer":"#### 42"})", "f:2").status().message(), HasSubstr("a string"));
}

// Answers and what the filters of lm-evaluation-harness 0.4 take from them, with normalisation as its exact match has.
TEST(NumbersOfAnswers, AreThoseOfTheTwoFilters) {
  const struct {
    const char* answer;
    const char* marked;  // null: none
    const char* last;
  } kCases[] = {{"He has 5 and 7.\n#### 12", "12", "12"}, {"#### -3,000.50 apples", "-3000.50", "-3000.50"},
                {"so it costs $1,234.", nullptr, "1234"}, {"The answer is 18 dollars. #### none", nullptr, "18"},
                {"#### 4 or #### 5", "4", "5"},           {"the sum is -$20.", nullptr, "-20"},
                {"no number at all", nullptr, nullptr},   {"", nullptr, nullptr}};
  for (const auto& test : kCases) {
    const auto text = [](const char* wanted) {
      return wanted == nullptr ? std::optional<std::string>() : std::optional<std::string>(wanted);
    };
    EXPECT_EQ(MarkedNumber(test.answer), text(test.marked)) << test.answer;
    EXPECT_EQ(LastNumber(test.answer), text(test.last)) << test.answer;
  }
}

}  // namespace
}  // namespace adit::eval
