#include "eval/choice_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::eval {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ParseHellaSwag, PutsTheContextTogetherAndTakesMarksOut) {
  const Result<ChoiceItem> item = ParseHellaSwag(
      R"({"activity_label":"Roof shingle removal","ctx_a":"A man sits on a roof.","ctx_b":"he",)"
      R"("endings":["is using wrap.","[step] starts pulling  up [title] roofing."],"label":"1","ind":24})",
      "f:1");
  ASSERT_TRUE(item.ok()) << item.status().ToString();
  EXPECT_EQ(item->context, "Roof shingle removal: A man sits on a roof. He");
  EXPECT_THAT(item->endings, ElementsAre("is using wrap.", " starts pulling up. roofing."));
  EXPECT_EQ(item->answer, 1u);
}

TEST(ParseHellaSwag, TakesAWholeContext) {
  const Result<ChoiceItem> item = ParseHellaSwag(R"({"ctx":"It rains. ","endings":["a","b"],"label":0})", "f:1");
  ASSERT_TRUE(item.ok()) << item.status().ToString();
  EXPECT_EQ(item->context, "It rains.");
  EXPECT_EQ(item->answer, 0u);
}

TEST(ParseMmlu, AsksForALetter) {
  for (const char* answer : {"2", "\"C\"", "\"2\""}) {
    const Result<ChoiceItem> item = ParseMmlu(
        std::string(R"({"question":" What is 2 + 2? ","choices":["2","3","4","5"],"answer":)") + answer + "}", "f:1");
    ASSERT_TRUE(item.ok()) << item.status().ToString();
    EXPECT_EQ(item->context, "What is 2 + 2?\nA. 2\nB. 3\nC. 4\nD. 5\nAnswer:");
    EXPECT_THAT(item->endings, ElementsAre("A", "B", "C", "D"));
    EXPECT_EQ(item->answer, 2u);
    EXPECT_EQ(AsExample(*item), "What is 2 + 2?\nA. 2\nB. 3\nC. 4\nD. 5\nAnswer: C\n\n");
  }
}

TEST(ParseChoices, NamesWhatIsWrong) {
  const auto hellaswag = [](const char* line) { return ParseHellaSwag(line, "items:7").status().message(); };
  const auto mmlu = [](const char* line) { return ParseMmlu(line, "items:7").status().message(); };
  EXPECT_THAT(hellaswag(R"({"endings":["a","b"],"label":0})"), HasSubstr("items:7: no \"ctx\""));
  EXPECT_THAT(hellaswag(R"({"ctx":1,"endings":["a","b"],"label":0})"), HasSubstr("\"ctx\" is an integer"));
  EXPECT_THAT(hellaswag(R"({"ctx":"x","endings":["a"],"label":0})"), HasSubstr("1 elements, wanted 2 to 26"));
  EXPECT_THAT(hellaswag(R"({"ctx":"x","endings":["a",2],"label":0})"), HasSubstr("among its elements"));
  EXPECT_THAT(hellaswag(R"({"ctx":"x","endings":["a","b"],"label":2})"), HasSubstr("names none of the 2 answers"));
  EXPECT_THAT(hellaswag(R"({"ctx":"x","endings":["a","b"],"label":"B "})"), HasSubstr("names none"));
  EXPECT_THAT(mmlu(R"({"question":"x","choices":"a","answer":0})"), HasSubstr("\"choices\" is a string"));
  EXPECT_THAT(mmlu("{"), HasSubstr("items:7"));
}

}  // namespace
}  // namespace adit::eval
