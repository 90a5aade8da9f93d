#include "server/literal_grammar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "grammar/compiler.h"
#include "grammar/grammar.h"
#include "server/test_tokenizer.h"

namespace adit::server {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSchema = R"({"type": "object", "properties": {
    "city": {"type": "string"}, "days": {"type": "integer"},
    "unit": {"enum": ["c", "f", null, true, 2]},
    "tags": {"type": "array", "items": {"type": "string"}},
    "at": {"type": "object", "properties": {"x": {"type": ["number", "null"]}}, "required": ["x"]}},
    "required": ["city", "at"]})";

class LiteralGrammarTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!grammar::Compiler::available()) GTEST_SKIP() << "this build has no XGrammar";
  }
  bool Describes(const std::string& schema, LiteralSyntax syntax, std::string_view text) {
    const Result<std::string> rules = LiteralRules(schema, syntax);
    EXPECT_TRUE(rules.ok()) << rules.status().message();
    const Result<GrammarPtr> grammar = compiler_.Compile({.kind = GrammarKind::kEbnf, .text = *rules});
    EXPECT_TRUE(grammar.ok()) << grammar.status().message() << "\n" << *rules;
    if (!grammar.ok()) return false;
    const auto matcher = (*grammar)->NewMatcher();
    for (const char byte : text) {
      if (!*matcher->Accept(static_cast<unsigned char>(byte))) return false;
    }
    return matcher->complete();
  }

  const ByteTokenizer tokenizer_{/*adds_bos=*/false, /*adds_eos=*/false};
  grammar::Compiler compiler_{tokenizer_};
};

TEST_F(LiteralGrammarTest, PythonsKeywordArguments) {
  const auto is_good = [this](std::string_view text) { return Describes(kSchema, LiteralSyntax::kPython, text); };
  EXPECT_TRUE(is_good(R"(city="Paris", at={"x": -1.5e3})"));
  EXPECT_TRUE(is_good(R"(city="a \"b\" \n", days=0, unit=None, tags=["a", "b"], at={"x": None})"));
  EXPECT_TRUE(is_good(R"(city="", unit="c", tags=[], at={"x": 1})"));
  EXPECT_TRUE(is_good(R"(city="", unit=True, at={"x": 1})"));
  for (const char* bad :
       {R"(at={"x": 1}, city="a")", R"(city="a")", R"(city=1, at={"x": 1})", R"(city="a", at={})",
        R"(city="a", unit="k", at={"x": 1})", R"(city="a", at={"x": 1}, more=1)", R"(city="a",at={"x": 1})",
        R"(city="a", tags=[1], at={"x": 1})", R"(city="a", days=01, at={"x": 1})"}) {
    EXPECT_FALSE(is_good(bad)) << bad;
  }
}

TEST_F(LiteralGrammarTest, GemmasObjects) {
  const auto is_good = [this](std::string_view text) { return Describes(kSchema, LiteralSyntax::kGemma, text); };
  EXPECT_TRUE(is_good("{city:<escape>Paris, \"x\"<escape>,at:{x:null}}"));
  EXPECT_TRUE(is_good("{city:<escape><escape>,days:-7,unit:<escape>f<escape>,tags:[<escape>a<escape>],at:{x:2}}"));
  EXPECT_FALSE(is_good("{city:Paris,at:{x:1}}"));
  EXPECT_FALSE(is_good("{at:{x:1},city:<escape>a<escape>}"));
}

TEST_F(LiteralGrammarTest, OpenAndEmptyObjects) {
  EXPECT_TRUE(Describes(R"({"type": "object"})", LiteralSyntax::kPython, R"(a=1, b={"c": [None]})"));
  EXPECT_TRUE(Describes(R"({"type": "object"})", LiteralSyntax::kGemma, "{a:1,b:{c:[null]}}"));
  constexpr const char* kClosed = R"({"type": "object", "properties": {}, "additionalProperties": false})";
  // By itself the empty text is no grammar; a call has it between parentheses.
  EXPECT_TRUE(LiteralRules(kClosed, LiteralSyntax::kPython).ok());
  EXPECT_TRUE(Describes(kClosed, LiteralSyntax::kGemma, "{}"));
}

TEST_F(LiteralGrammarTest, WhatCannotBeEnforcedIsNamed) {
  const auto error_of = [](const char* schema) {
    const Result<std::string> rules = LiteralRules(schema, LiteralSyntax::kPython);
    EXPECT_FALSE(rules.ok()) << schema;
    return rules.status().message();
  };
  EXPECT_THAT(error_of(R"({"properties": {"a": {"type": "string", "minLength": 2}}})"),
              HasSubstr("'minLength' at '/properties/a'"));
  EXPECT_THAT(error_of(R"({"properties": {"a b": {}}})"), HasSubstr("/properties/a b"));
  EXPECT_THAT(error_of(R"({"properties": {"a": false}})"), HasSubstr("false"));
  EXPECT_THAT(error_of("[]"), HasSubstr("no object"));
  std::string deep = "{}";
  for (int i = 0; i < 20; ++i) deep = R"({"type": "array", "items": )" + deep + "}";
  EXPECT_THAT(error_of((R"({"properties": {"a": )" + deep + "}}").c_str()), HasSubstr("too large"));
}

}  // namespace
}  // namespace adit::server
