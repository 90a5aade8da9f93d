#include "tokenizer/json_document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tokenizer/json_fields.h"

namespace adit::tokenizer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

JsonDocument Parsed(const std::string& text) {
  auto document = JsonDocument::Parse(text, "x.json");
  EXPECT_TRUE(document.ok()) << document.status().ToString();
  return std::move(*document);
}

TEST(JsonDocument, HoldsEveryKindOfValue) {
  const JsonDocument document = Parsed(R"({"a":[1,-2.5,true,null,"x\u00e9"],"b":{"c":18446744073709551615},"a2":{}})");
  const JsonValue root = document.root();
  EXPECT_EQ(root.size(), 3u);
  std::vector<JsonKind> kinds;
  EXPECT_TRUE(root["a"]
                  .ForEach([&](JsonValue value) {
                    kinds.push_back(value.kind());
                    return Status();
                  })
                  .ok());
  EXPECT_THAT(kinds,
              ElementsAre(JsonKind::kInt, JsonKind::kFloat, JsonKind::kBool, JsonKind::kNull, JsonKind::kString));
  EXPECT_EQ(root["b"]["c"].Float(), 18446744073709551615.0);
  EXPECT_EQ(root["b"]["nothing"].kind(), JsonKind::kMissing);
  EXPECT_TRUE(root["nothing"]["further"].IsNull());
  EXPECT_EQ(root["a2"].size(), 0u);
}

TEST(JsonDocument, TheLastOfEqualKeysCounts) {
  const JsonDocument document = Parsed(R"({"a":1,"b":{"a":7},"a":2})");
  EXPECT_EQ(document.root()["a"].Int(), 2);
}

TEST(JsonDocument, BrokenTextIsNamedWithItsPlace) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1} x", "\"\xFF\"", "nul", "[1e999]"}) {
    const auto document = JsonDocument::Parse(text, "x.json");
    ASSERT_FALSE(document.ok()) << text;
    EXPECT_EQ(document.status().code(), StatusCode::kCorrupt);
    EXPECT_THAT(document.status().message(), HasSubstr("x.json: not JSON at byte "));
  }
}

TEST(JsonDocument, DepthIsLimited) {
  EXPECT_TRUE(JsonDocument::Parse(std::string(32, '[') + std::string(32, ']'), "x.json").ok());
  const auto deep = JsonDocument::Parse(std::string(1'000'000, '['), "x.json");
  EXPECT_EQ(deep.status().code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(deep.status().message(), HasSubstr("deeper than 32"));
}

TEST(JsonFields, WrongKindsAreNamed) {
  const JsonDocument document = Parsed(R"({"a":1,"b":"x","c":null,"d":true})");
  const JsonValue root = document.root();
  EXPECT_EQ(*IntOr(root, "c", 5, "w"), 5);
  EXPECT_EQ(*StringOr(root, "none", "z", "w"), "z");
  EXPECT_TRUE(*BoolOr(root, "d", false, "w"));
  EXPECT_EQ(BoolOr(root, "a", false, "w").status().message(), "w: 'a' is a number, wanted a boolean");
  EXPECT_EQ(StringOf(root, "none", "w").status().message(), "w: 'none' is missing, wanted a string");
  EXPECT_EQ(IntOr(root, "b", 1, "w").status().message(), "w: 'b' is a string, wanted a whole number");
  EXPECT_EQ(ArrayOf(root, "c", "w").status().message(), "w: 'c' is null, wanted an array");
}

TEST(JsonFields, Base64) {
  EXPECT_EQ(DecodeBase64("aGVsbG8="), "hello");
  EXPECT_EQ(DecodeBase64("AP/+"), std::string("\x00\xFF\xFE", 3));
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_FALSE(DecodeBase64("a*"));
}

}  // namespace
}  // namespace adit::tokenizer
