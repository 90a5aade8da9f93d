#include "grammar/schema_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::grammar {
namespace {

using ::testing::HasSubstr;

std::string Written(std::string_view schema) {
  const Result<std::string> written = CheckSchema(schema);
  return written.ok() ? *written : written.status().ToString();
}
StatusCode RefusalCode(std::string_view schema) { return CheckSchema(schema).status().code(); }

TEST(SchemaCheck, KeepsTheOrderOfPropertiesAndClosesTheObject) {
  EXPECT_EQ(
      Written(R"({"type":"object","title":"T","properties":{"b":{"type":"null"},"a":{"type":"boolean"}}})"),
      R"({"type":"object","properties":{"b":{"type":"null"},"a":{"type":"boolean"}},"additionalProperties":false})");
}

TEST(SchemaCheck, AnObjectOrListThatSaysNothingOfItsContentsIsOpen) {
  EXPECT_EQ(Written(R"({"type":"object"})"), R"({"type":"object","additionalProperties":{}})");
  EXPECT_EQ(Written(R"({"type":"array"})"), R"({"type":"array","items":{}})");
  EXPECT_EQ(Written("true"), "{}");
}

TEST(SchemaCheck, TellsTheTypeThatFollowsFromTheKeywords) {
  EXPECT_EQ(Written(R"({"minimum":1.5})"), R"({"type":"number","minimum":1.5})");
  EXPECT_THAT(Written(R"({"minimum":1,"maxLength":2})"), HasSubstr("'minimum' and 'maxLength' are of different types"));
}

TEST(SchemaCheck, BoundsOfWholeNumbersAreWhole) {
  EXPECT_EQ(Written(R"({"type":"integer","exclusiveMinimum":0.5,"maximum":3.7})"),
            R"({"type":"integer","minimum":1,"maximum":3})");
  EXPECT_EQ(RefusalCode(R"({"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":2})"),
            StatusCode::kInvalidArgument);
}

TEST(SchemaCheck, ReferencesBecomeDefinitions) {
  EXPECT_EQ(Written(R"({"$defs":{"n":{"type":"object","properties":{"c":{"$ref":"#/$defs/n"}}}},"$ref":"#/$defs/n"})"),
            R"({"$ref":"#/$defs/d0","$defs":{"d0":{"type":"object","properties":{"c":{"$ref":"#/$defs/d0"}},)"
            R"("additionalProperties":false}}})");
  EXPECT_EQ(
      Written(R"({"type":"array","items":{"$ref":"#"}})"),
      R"({"type":"array","items":{"$ref":"#/$defs/d0"},"$defs":{"d0":{"type":"array","items":{"$ref":"#/$defs/d0"}}}})");
}

TEST(SchemaCheck, ReferencesToNowhereAreRefused) {
  for (
      const char* schema :
      {R"({"$ref":""})", R"({"$ref":"#/$defs/x"})", R"({"$ref":"http://127.0.0.1:1/x"})", R"({"$ref":5})",
       R"({"$ref":"#"})",
       R"({"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}},"$ref":"#/$defs/a"})"}) {
    EXPECT_EQ(RefusalCode(schema), StatusCode::kInvalidArgument) << schema;
  }
}

TEST(SchemaCheck, WhatCannotBeEnforcedIsRefusedByName) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"not":{}})", "'not'"},
      {R"({"if":{},"then":{}})", "'if'"},
      {R"({"type":"array","uniqueItems":true})", "'uniqueItems'"},
      {R"({"type":"array","contains":{}})", "'contains'"},
      {R"({"type":"object","dependentRequired":{"a":["b"]}})", "'dependentRequired'"},
      {R"({"type":"number","multipleOf":0.1})", "'multipleOf'"},
      {R"({"type":"string","pattern":"a","maxLength":3})", "'pattern' beside a length"},
      {R"({"type":"string","format":"idn-email"})", "\"idn-email\""},
      {R"({"allOf":[{"type":"object"},{"type":"object"}]})", "allOf"},
      {R"({"enum":["a"],"minLength":3})", "'minLength' beside 'enum'"},
      {R"({"$ref":"#/$defs/a","minLength":3,"$defs":{"a":{"type":"string"}}})", "'minLength' beside '$ref'"},
      {R"({"type":"object","properties":{"a":{}},"patternProperties":{"b":{}}})", "'patternProperties'"},
      {R"({"type":"object","minProperties":2})", "'minProperties'"},
      {R"({"oneOf":[{"type":"integer"},{"type":"number"}]})", "'oneOf'"},
      {R"x({"type":"string","pattern":"a(?=b)"})x", "pattern"},
      {R"({"properties":{"x":{"items":{"not":{}}}}})", "#/properties/x/items"},
  };
  for (const auto& [schema, name] : kCases) {
    EXPECT_EQ(RefusalCode(schema), StatusCode::kUnsupported) << schema;
    EXPECT_THAT(CheckSchema(schema).status().message(), HasSubstr(name)) << schema;
  }
}

TEST(SchemaCheck, WhatAllowsNothingIsRefused) {
  for (const char* schema :
       {"false", R"({"enum":[]})", R"({"enum":["a"],"type":"integer"})", R"({"type":[]})",
        R"({"type":"array","minItems":3,"maxItems":2})", R"({"type":"array","items":false,"minItems":1})",
        R"({"type":"object","additionalProperties":false,"required":["a"]})", R"({"type":"what"})",
        R"({"type":"string","minLength":-1})", "5", "[", R"({"type":"object","properties":5})"}) {
    EXPECT_EQ(RefusalCode(schema), StatusCode::kInvalidArgument) << schema;
  }
}

TEST(SchemaCheck, OneOfBecomesAnyOfWhereThatIsTheSame) {
  EXPECT_EQ(Written(R"({"oneOf":[{"type":"string"},{"type":"null"}]})"),
            R"({"anyOf":[{"type":"string"},{"type":"null"}]})");
  // As pydantic writes a union that a member tells apart.
  const char* schema = R"({"$defs":{"A":{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},
    "B":{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}},
    "discriminator":{"propertyName":"k"},"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/B"}]})";
  EXPECT_EQ(RefusalCode(schema), StatusCode::kOk);
}

TEST(SchemaCheck, BoundsSizeAndDepth) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "{\"items\":";
  EXPECT_EQ(RefusalCode(deep), StatusCode::kInvalidArgument);
  std::string nested = "{}";
  for (int i = 0; i < 100; ++i) nested = "{\"items\":" + nested + "}";
  EXPECT_EQ(RefusalCode(nested), StatusCode::kInvalidArgument);
  EXPECT_EQ(RefusalCode(R"({"type":"array","maxItems":1000000000})"), StatusCode::kInvalidArgument);
}

TEST(SchemaCheck, OldDraftsAreRead) {
  EXPECT_EQ(Written(R"({"items":[{"type":"null"}],"additionalItems":false})"),
            R"({"type":"array","prefixItems":[{"type":"null"}],"items":false})");
}

TEST(SchemaCheck, CountsAreWhole) {
  EXPECT_EQ(Written(R"({"type":"string","minLength":2.0,"maxLength":3})"),
            R"({"type":"string","minLength":2,"maxLength":3})");
}

}  // namespace
}  // namespace adit::grammar
