#include "formats/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace adit::formats {
namespace {

Json ParsedJson(const std::string& text) {
  Result<Json> json = Json::Parse(text, "test", {.allow_infinity = true});
  EXPECT_TRUE(json.ok()) << json.status().ToString();
  return json.ok() ? *std::move(json) : Json();
}

TEST(JsonText, IsWhatWasParsed) {
  const std::string text =
      R"({"b":[1,-2,0.1,1e-06,null,true,false],"a":{"":"\"\\\n\u0001é"},"c":[],"d":{},"e":9007199254740993})";
  EXPECT_EQ(JsonText(ParsedJson(text), /*indented=*/false), text);
}

TEST(JsonText, BreaksLines) {
  EXPECT_EQ(JsonText(ParsedJson(R"({"a":[1,{"b":2}],"c":[]})"), /*indented=*/true),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": 2\n    }\n  ],\n  \"c\": []\n}\n");
}

TEST(JsonText, HasInfinitiesAsPythonWritesThem) {
  EXPECT_EQ(JsonText(ParsedJson("[Infinity,-Infinity]"), /*indented=*/false), "[Infinity,-Infinity]");
}

}  // namespace
}  // namespace adit::formats
