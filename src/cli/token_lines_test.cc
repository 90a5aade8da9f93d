#include "cli/token_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TokenLines, TextIsTextOrHex) {
  EXPECT_EQ(*ParseTextLine(R"({"text":"Zo\u00eb \ud83d\ude00\n"})"), "Zoë 😀\n");
  EXPECT_EQ(*ParseTextLine(R"( {"i": 3, "text": ""} )"), "");
  EXPECT_EQ(*ParseTextLine(R"({"hex":"00fFc3"})"), std::string_view("\0\xff\xc3", 3));
  EXPECT_EQ(*ParseTextLine(R"({"hex":""})"), "");
}

TEST(TokenLines, NamesWhatIsWrongWithALine) {
  for (const char* line :
       {"", "x", "[]", "1", "{", R"({"text":"a"} {})", "{\"text\":\"\xff\"}", R"({"text":"\ud83d"})"}) {
    EXPECT_THAT(ParseTextLine(line).status().message(), HasSubstr("is no line of the form")) << line;
  }
  EXPECT_THAT(ParseTextLine("{}").status().message(), HasSubstr("wanted one of"));
  EXPECT_THAT(ParseTextLine(R"({"text":"a","hex":"61"})").status().message(), HasSubstr("wanted one of"));
  EXPECT_EQ(ParseTextLine(R"({"text":7})").status().message(), "\"text\" is number, wanted a string");
  EXPECT_EQ(ParseTextLine(R"({"hex":"616"})").status().message(), "\"hex\" has 3 digits, wanted an even number");
  EXPECT_THAT(ParseTextLine(R"({"hex":"6g"})").status().message(), HasSubstr("'6g'"));
}

TEST(TokenLines, ADeepLineIsRefusedWithoutHarm) {
  const std::string deep(1 << 20, '[');
  EXPECT_FALSE(ParseTextLine(deep).ok());
  EXPECT_FALSE(ParseTextLine("{\"text\":" + deep).ok());
  EXPECT_EQ(ParseTextLine("{\"text\":\"" + deep + "\\\"[\"}")->size(), deep.size() + 2);
  EXPECT_FALSE(ParseTextLine("{\"text\":\"a\",\"x\":" + std::string(20, '[') + std::string(20, ']') + "}").ok());
}

TEST(TokenLines, ReadsIds) {
  EXPECT_THAT(*ParseIdsLine(R"({"ids":[1, 0,2147483647]})"), ElementsAre(1, 0, 2147483647));
  EXPECT_THAT(*ParseIdsLine(R"({"ids":[]})"), IsEmpty());
  for (const char* line : {"{}", R"({"ids":1})", "[1]"}) {
    EXPECT_THAT(ParseIdsLine(line).status().message(), HasSubstr("is no line of the form")) << line;
  }
  for (const char* id : {"-1", "1.0", "2147483648", "18446744073709551615", "\"1\"", "null", "[1]"}) {
    EXPECT_THAT(ParseIdsLine(std::string("{\"ids\":[") + id + "]}").status().message(),
                HasSubstr(std::string("\"ids\" holds ") + id))
        << id;
  }
}

TEST(TokenLines, WritesCompactLines) {
  const int32_t ids[] = {5, 0};
  EXPECT_EQ(IdsJson(ids), R"({"ids":[5,0]})");
  EXPECT_EQ(IdsJson({}), R"({"ids":[]})");
  EXPECT_EQ(TextJson("a\"\n"), R"({"text":"a\"\n","hex":"61220a"})");
  EXPECT_EQ(TextJson("\xe2\x82"), "{\"text\":\"\xef\xbf\xbd\",\"hex\":\"e282\"}");
  EXPECT_EQ(ErrorJson("no \"x\""), R"({"error":"no \"x\""})");
}

}  // namespace
}  // namespace adit::cli
