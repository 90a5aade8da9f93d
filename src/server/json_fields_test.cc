#include "server/json_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace adit::server {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(ParseJson, SaysWhereTextIsNoJson) {
  EXPECT_EQ(ParseJson(R"({"a": [1, 2.5, "x"]})")->at("a").size(), 3U);
  EXPECT_THAT(ParseJson("{\"a\": }").status().message(), HasSubstr("at byte 7"));
  EXPECT_FALSE(ParseJson("").ok());
  EXPECT_FALSE(ParseJson("{} {}").ok());
  EXPECT_FALSE(ParseJson("\"\xFF\"").ok());
}

TEST(ParseJson, RefusesWhatLiesTooDeep) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(ParseJson(nested(kMaxJsonDepth)).ok());
  EXPECT_THAT(ParseJson(nested(kMaxJsonDepth + 2)).status().message(), HasSubstr("deeper than 64"));
  EXPECT_FALSE(ParseJson(nested(1'000'000)).ok());
  EXPECT_FALSE(ParseJson(std::string(1'000'000, '[')).ok());
}

TEST(WholeNumber, TakesWhatIsWholeInEitherForm) {
  EXPECT_EQ(WholeNumber(Json::parse("7")), 7);
  EXPECT_EQ(WholeNumber(Json::parse("7.0")), 7);
  EXPECT_EQ(WholeNumber(Json::parse("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(WholeNumber(Json::parse("9223372036854775807")), INT64_MAX);
  for (const char* text : {"7.5", "9223372036854775808", "1e30", "\"7\"", "true", "null"}) {
    EXPECT_EQ(WholeNumber(Json::parse(text)), std::nullopt) << text;
  }
}

TEST(FieldReader, NullIsAbsent) {
  const Json object = Json::parse(R"({"a": null})");
  FieldReader fields(object);
  EXPECT_EQ(fields.Find("a"), nullptr);
  EXPECT_FALSE(fields.Flag("a") || fields.Whole("a", 0, 1) || fields.Real("b", {0, 1}) || fields.Text("b", 0, 1));
  EXPECT_FALSE(fields.error());
}

TEST(FieldReader, ReadsValuesInTheirRange) {
  const Json object = Json::parse(R"({"flag": true, "whole": 3.0, "real": 1, "text": "x"})");
  FieldReader fields(object);
  EXPECT_EQ(fields.Flag("flag"), true);
  EXPECT_EQ(fields.Whole("whole", 3, 3), 3);
  EXPECT_EQ(fields.Real("real", {0, 1}), 1.0);
  EXPECT_EQ(fields.Text("text", 1, 1), "x");
  EXPECT_FALSE(fields.error());
}

// The error that reading one field leaves.
template <typename Read>
ApiError ErrorOf(const char* text, Read read) {
  const Json object = Json::parse(text);
  FieldReader fields(object);
  read(fields);
  return fields.error().value_or(ApiError{.code = "none"});
}

TEST(FieldReader, TellsTypesFromValues) {
  const ApiError type = ErrorOf(R"({"n": "2"})", [](FieldReader& fields) { fields.Whole("n", 1, 5); });
  EXPECT_EQ(type.code, "invalid_type");
  EXPECT_EQ(type.param, "n");
  EXPECT_THAT(type.message, HasSubstr("wanted a whole number"));
  EXPECT_EQ(ErrorOf(R"({"n": 2.5})", [](FieldReader& fields) { fields.Whole("n", 1, 5); }).code, "invalid_type");
  const ApiError value = ErrorOf(R"({"n": 6})", [](FieldReader& fields) { fields.Whole("n", 1, 5); });
  EXPECT_EQ(value.code, "invalid_value");
  EXPECT_THAT(value.message, HasSubstr("1..5"));
  EXPECT_EQ(ErrorOf(R"({"n": 1e30})", [](FieldReader& fields) { fields.Whole("n", 1, 5); }).code, "invalid_value");
  EXPECT_EQ(ErrorOf(R"({"x": 0})", [](FieldReader& fields) { fields.Real("x", {0, 1, true}); }).code, "invalid_value");
  EXPECT_EQ(ErrorOf(R"({"s": "ab"})", [](FieldReader& fields) { fields.Text("s", 1, 1); }).code,
            "string_above_max_length");
  EXPECT_EQ(ErrorOf(R"({"s": ""})", [](FieldReader& fields) { fields.Text("s", 1, 1); }).code, "invalid_value");
  EXPECT_EQ(ErrorOf(R"({"f": 1})", [](FieldReader& fields) { fields.Flag("f"); }).code, "invalid_type");
}

TEST(FieldReader, TheFirstErrorStays) {
  const ApiError error = ErrorOf(R"({"a": "x", "b": "y"})", [](FieldReader& fields) {
    fields.Flag("a");
    fields.Flag("b");
  });
  EXPECT_EQ(error.param, "a");
}

TEST(ErrorBody, IsOpenAis) {
  const std::string with_param = ErrorBody({.code = "invalid_value", .message = "m", .param = "n"}).dump();
  EXPECT_EQ(with_param,
            R"({"error":{"message":"m","type":"invalid_request_error","param":"n","code":"invalid_value"}})");
  EXPECT_THAT(ErrorBody({.message = "m"}).dump(), HasSubstr(R"("param":null,"code":null)"));
}

}  // namespace
}  // namespace adit::server
