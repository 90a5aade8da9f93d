#include "formats/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace adit::formats {
namespace {

using testing::HasSubstr;

Status ErrorOf(std::string_view text, const JsonLimits& limits = {}) {
  return Json::Parse(text, "x.json", limits).status();
}

TEST(Json, ReadsEveryKindInOrder) {
  const auto json =
      Json::Parse(R"( {"a": null, "b": [true, -3, 1.5, 1e3], "c": {"d": "\u00e9\n"}, "e": {}, "f": []} )", "x");
  ASSERT_TRUE(json.ok()) << json.status().ToString();
  ASSERT_EQ(json->AsObject()->size(), 5u);
  EXPECT_EQ(json->AsObject()->front().first, "a");
  EXPECT_TRUE(json->Find("a")->is_null());
  const Json::Array& b = *json->Find("b")->AsArray();
  EXPECT_TRUE(*b[0].AsBool());
  EXPECT_EQ(*b[1].AsInt(), -3);
  EXPECT_EQ(*b[2].AsDouble(), 1.5);
  EXPECT_EQ(*b[3].AsDouble(), 1000.0);
  EXPECT_EQ(*json->Find("c")->Find("d")->AsString(), "\xc3\xa9\n");
  EXPECT_EQ(json->Find("g"), nullptr);
  EXPECT_EQ(b[0].Find("g"), nullptr);
}

TEST(Json, IntegersBeyond64BitsAreDoubles) {
  const auto json = Json::Parse("[9223372036854775807, 9223372036854775808, 123456789012345678901234567890]", "x");
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*(*json->AsArray())[0].AsInt(), INT64_MAX);
  EXPECT_EQ(*(*json->AsArray())[1].AsDouble(), 0x1p63);
  EXPECT_NE((*json->AsArray())[2].AsDouble(), nullptr);
}

TEST(Json, RefusesWhatIsNotJsonAndSaysWhere) {
  for (const char* text : {"", "{", "[1,]", "{\"a\" 1}", "{'a': 1}", "[1] 2", "nul", "\"\xff\"", "[1e999]", "NaN",
                           "[Infinity]", "\"a\nb\""}) {
    const Status status = ErrorOf(text);
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << text;
    EXPECT_THAT(status.message(), HasSubstr("x.json: not JSON at byte")) << text;
  }
}

TEST(Json, RefusesAKeyThatOccursTwice) {
  EXPECT_THAT(ErrorOf(R"({"a": 1, "b": {"c": 1, "d": 2, "c": 3}})").message(), HasSubstr("key 'c' occurs twice"));
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\": 0, ";
  EXPECT_TRUE(Json::Parse(many + "\"last\": 0}", "x").ok());
  EXPECT_THAT(ErrorOf(many + "\"k7\": 0}").message(), HasSubstr("key 'k7' occurs twice"));
}

TEST(Json, RefusesWhatIsBeyondItsLimits) {
  const std::string deep(100'000, '[');
  EXPECT_EQ(ErrorOf(deep).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(ErrorOf("[[[0]]]", {.max_depth = 2}).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(ErrorOf("[[[0]]]", {.max_depth = 3}).ok());
  EXPECT_EQ(ErrorOf("[0, 0, 0]", {.max_values = 3}).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(ErrorOf("[0, 0, 0]", {.max_values = 4}).ok());
  EXPECT_EQ(ErrorOf("[0]", {.max_bytes = 2}).code(), StatusCode::kResourceExhausted);
}

TEST(Json, TakesInfinityOnlyWhereAllowedAndOnlyOutsideOfStrings) {
  const JsonLimits limits{.allow_infinity = true};
  const auto json = Json::Parse(R"({"Infinity": ["\"Infinity", Infinity, "a\\", -Infinity, "xxxxxx"]})", "x", limits);
  ASSERT_TRUE(json.ok()) << json.status().ToString();
  const Json::Array& values = *json->Find("Infinity")->AsArray();
  EXPECT_EQ(*values[0].AsString(), "\"Infinity");
  EXPECT_EQ(*values[1].AsDouble(), INFINITY);
  EXPECT_EQ(*values[2].AsString(), "a\\");
  EXPECT_EQ(*values[3].AsDouble(), -INFINITY);
  EXPECT_EQ(*values[4].AsString(), "xxxxxx");
  EXPECT_FALSE(ErrorOf("{Infinity: 1}", limits).ok());
  EXPECT_FALSE(ErrorOf("[NaN]", limits).ok());
  EXPECT_FALSE(ErrorOf("[Infinity", limits).ok());
  EXPECT_FALSE(ErrorOf("[\"Infinity", limits).ok());
}

TEST(Json, MessagesStayOneShortLine) {
  const Status status = ErrorOf("[\"" + std::string(5000, '\x01') + "\"]");
  EXPECT_LT(status.message().size(), 300u);
  EXPECT_THAT(status.message(), testing::Not(HasSubstr("\x01")));
}

}  // namespace
}  // namespace adit::formats
