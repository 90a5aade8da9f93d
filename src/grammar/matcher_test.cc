#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "grammar/compiler.h"
#include "grammar/grammar.h"
#include "grammar/test_vocabulary.h"

namespace adit::grammar {
namespace {

using Json = nlohmann::json;

// JSON by its grammar; a number that no double holds is one too.
bool IsJson(const std::string& text) {
  try {
    return !Json::parse(text).is_discarded();
  } catch (const Json::out_of_range&) {
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

class MatcherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Compiler::available()) GTEST_SKIP() << "this build has no XGrammar";
  }

  GrammarPtr Compiled(GrammarKind kind, std::string text) {
    const Result<GrammarPtr> grammar = compiler_.Compile({.kind = kind, .text = std::move(text)});
    EXPECT_TRUE(grammar.ok()) << grammar.status().message();
    return grammar.ok() ? *grammar : nullptr;
  }

  bool Allows(TokenMask mask, int32_t token) const {
    return (mask[static_cast<size_t>(token) / 32] >> (static_cast<uint32_t>(token) % 32) & 1U) != 0;
  }

  // Whether the grammar lets the text be written byte by byte, and end.
  bool Describes(const GrammarPtr& grammar, std::string_view text) {
    const std::unique_ptr<Matcher> matcher = grammar->NewMatcher();
    std::vector<uint32_t> mask(MaskWords(vocabulary_.vocab_size()));
    for (const char byte : text) {
      const auto token = static_cast<int32_t>(static_cast<unsigned char>(byte));
      const bool masks = *matcher->FillMask(mask);
      const bool allowed = !masks || Allows(mask, token);
      EXPECT_EQ(*matcher->Accept(token), allowed) << text;
      if (!allowed) return false;
    }
    const bool ends = *matcher->FillMask(mask) && Allows(mask, vocabulary_.end());
    EXPECT_EQ(matcher->complete(), ends) << text;
    return ends;
  }

  // A text that the grammar allows, drawn token by token; ends are taken as soon as there is a choice of them.
  std::string Draw(const GrammarPtr& grammar, std::mt19937& rng, size_t max_tokens) {
    const std::unique_ptr<Matcher> matcher = grammar->NewMatcher();
    std::vector<uint32_t> mask(MaskWords(vocabulary_.vocab_size()));
    std::string text;
    for (size_t i = 0; i < max_tokens; ++i) {
      if (!*matcher->FillMask(mask)) std::fill(mask.begin(), mask.end(), ~uint32_t{0});
      std::vector<int32_t> allowed;
      for (int32_t token = 0; token < vocabulary_.end(); ++token) {
        // White space says nothing, and printable text is easier to read.
        if (token != ' ' && token != '\n' && token != '\t' && token != '\r' && Allows(mask, token)) {
          allowed.push_back(token);
        }
      }
      const bool may_end = Allows(mask, vocabulary_.end());
      if (may_end && (allowed.empty() || rng() % 3 == 0)) return text;
      EXPECT_FALSE(allowed.empty()) << text;
      if (allowed.empty()) return text;
      const int32_t token = allowed[rng() % allowed.size()];
      EXPECT_TRUE(*matcher->Accept(token)) << text;
      text += vocabulary_.TokenBytes(token, false);
    }
    return std::string();
  }

  TestVocabulary vocabulary_{{"{\"", "\":", "\",", "true", "null", "12", "},", "]}", "\"}"}};
  Compiler compiler_{vocabulary_};
};

TEST_F(MatcherTest, SchemasAllowWhatIsValidAndNothingElse) {
  struct Case {
    const char* schema;
    std::vector<const char*> good;
    std::vector<const char*> bad;
  };
  const Case kCases[] = {
      {R"({"type":"array","items":{"type":"integer"},"maxItems":0})", {"[]"}, {"[1]"}},
      {R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2})",
       {"[1, 2]", "[1,2]"},
       {"[]", "[1]", "[1,2,3]"}},
      {R"({"type":"object","properties":{}})", {"{}", R"({"x":1})"}, {"[]"}},
      {R"({"type":"object","properties":{},"additionalProperties":false})", {"{}"}, {R"({"x":1})"}},
      {R"({"type":"object","patternProperties":{"^x_[a-z]+$":{"type":"integer"}},"additionalProperties":false})",
       {"{}", R"({"x_a":1})"},
       {R"({"y":1})", R"({"x_a":"1"})"}},
      {R"({"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"null"},"c":{"type":"null"}},
          "required":["a"],"additionalProperties":false})",
       {R"({"a":1})", R"({"a":1,"b":null})", R"({"a":1,"c":null})", R"({"a":1,"b":null,"c":null})"},
       {"{}", R"({"b":null})", R"({"a":1,"d":1})"}},
      {R"({"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}})",
       {R"({"a":1,"z":"x"})", R"({"z":"x"})"},
       {R"({"a":"x"})", R"({"z":1})", R"({"z":"x","a":"y"})"}},
      {R"({"type":"integer","minimum":-3,"maximum":12})", {"-3", "0", "12", "9"}, {"-4", "13", "1.0", "007"}},
      {R"({"type":"integer","multipleOf":5,"minimum":0,"maximum":20})", {"0", "5", "20"}, {"3", "25"}},
      {R"({"type":"object","properties":{"q\"t\n":{"type":"null"}},"required":["q\"t\n"]})",
       {R"({"q\"t\n":null})"},
       {"{}"}},
      {R"({"enum":["a",1,null,{"x":[1]}]})", {"\"a\"", "1", "null"}, {"\"b\"", "2"}},
      {R"({"type":"string","minLength":2,"maxLength":3})",
       {R"("ab")", R"("äöü")"},
       {R"("a")", R"("abcd")", "\"a\tb\"", "\"a\"b\""}},
      {R"({"type":"array","items":{"type":"object","properties":{"p":{"type":"string","maxLength":2},
          "q":{"type":"string","minLength":1}},"required":["p","q"]}})",
       {R"([{"p":"","q":"abcdef"}])", R"([{"p":"ab","q":"a"}, {"p":"ä","q":"ö"}])"},
       {R"([{"p":"abc","q":"a"}])", R"([{"p":"","q":""}])", "[{\"p\":\"\x01\",\"q\":\"a\"}]"}},
      {R"({"type":["string","null"]})", {"null", "\"x\""}, {"1"}},
      {R"({"anyOf":[{"type":"boolean"},{"type":"array","items":{"type":"null"}}]})", {"true", "[null]"}, {"null"}},
      {R"({"type":"string","pattern":"^[ä-ü]+$"})", {R"("äö")"}, {R"("a")"}},
      {R"({"type":"string","format":"date"})", {R"("2024-02-29")"}, {R"("2024-13-01")", R"("x")"}},
      {R"({"prefixItems":[{"type":"integer"},{"type":"null"}]})", {"[1, null]"}, {"[null]", "[1,null,2]"}},
      {R"({"$defs":{"n":{"type":"object","properties":{"v":{"type":"integer"},"c":{"type":"array",
          "items":{"$ref":"#/$defs/n"},"maxItems":2}},"required":["v"],"additionalProperties":false}},"$ref":"#/$defs/n"})",
       {R"({"v":1,"c":[{"v":2,"c":[]}]})"},
       {R"({"c":[]})"}},
  };
  for (const Case& one : kCases) {
    const GrammarPtr grammar = Compiled(GrammarKind::kJsonSchema, one.schema);
    ASSERT_NE(grammar, nullptr) << one.schema;
    for (const char* text : one.good) EXPECT_TRUE(Describes(grammar, text)) << one.schema << " " << text;
    for (const char* text : one.bad) EXPECT_FALSE(Describes(grammar, text)) << one.schema << " " << text;
  }
}

TEST_F(MatcherTest, WhateverIsDrawnUnderASchemaIsJson) {
  std::mt19937 rng(1);
  for (const char* schema :
       {R"({"type":"object"})", R"({"type":"array","items":{"type":"number"}})", R"({"type":"string"})",
        R"({"type":"string","minLength":1,"maxLength":5})", R"({"type":"string","pattern":"[^a]{1,8}"})",
        R"({"type":"string","pattern":".+\\S\\W"})", R"({"type":"string","format":"email"})",
        R"({"type":"string","format":"uri"})", R"({"type":"string","format":"uri-template"})",
        R"({"type":"string","format":"json-pointer"})", R"({"type":"string","format":"relative-json-pointer"})",
        R"({"type":"string","format":"uri-reference"})", R"({"type":"string","format":"hostname"})",
        R"({"type":"string","format":"ipv6"})", R"({"type":"string","format":"duration"})",
        R"({"type":"number","minimum":-1.5,"exclusiveMaximum":2.25})"}) {
    const GrammarPtr grammar = Compiled(GrammarKind::kJsonSchema, schema);
    ASSERT_NE(grammar, nullptr) << schema;
    int num_whole = 0;
    for (int i = 0; i < 60; ++i) {
      const std::string text = Draw(grammar, rng, 400);
      if (text.empty()) continue;
      ++num_whole;
      // Bytes that are no UTF-8 never reach a client as they are. Escapes of half a surrogate pair are JSON by its
      // grammar, and no text.
      if (text.find("\\u") != std::string::npos || text.find("\\U") != std::string::npos) continue;
      ASSERT_TRUE(IsJson(ReplaceInvalidUtf8(text))) << schema << " " << text;
      if (std::string_view(schema).find("minimum") == std::string_view::npos) continue;
      const double value = Json::parse(text).get<double>();
      EXPECT_TRUE(value >= -1.5 && value < 2.25) << text;
    }
    EXPECT_GT(num_whole, 10) << schema;
  }
}

TEST_F(MatcherTest, JsonObjectsAreObjects) {
  const GrammarPtr grammar = Compiled(GrammarKind::kJsonObject, "");
  EXPECT_TRUE(Describes(grammar, R"({"a": [1, {"b": null}], "c": "\u00e4"})"));
  EXPECT_FALSE(Describes(grammar, "[]"));
  EXPECT_FALSE(Describes(grammar, "{"));
}

TEST_F(MatcherTest, RegexesAndChoicesAndRules) {
  const GrammarPtr regex = Compiled(GrammarKind::kRegex, "^[0-9]{3}-(ab|ä)+$");
  EXPECT_TRUE(Describes(regex, "123-abäab"));
  EXPECT_FALSE(Describes(regex, "123-"));
  const GrammarPtr choice = Compiled(GrammarKind::kChoice, R"(["yes","no","a \"b\"\n\u0001"])");
  EXPECT_TRUE(Describes(choice, "no"));
  EXPECT_TRUE(Describes(choice, "a \"b\"\n\x01"));
  EXPECT_FALSE(Describes(choice, "yesno"));
  const GrammarPtr rules = Compiled(GrammarKind::kEbnf, "root ::= a | \"(\" root \")\"\na ::= [a-c]+ # letters\n");
  EXPECT_TRUE(Describes(rules, "((abc))"));
  EXPECT_FALSE(Describes(rules, "((abc)"));
}

TEST_F(MatcherTest, StructuralTagsHoldTheirSchemas) {
  const GrammarPtr tag = Compiled(GrammarKind::kStructuralTag, R"({"format":{"type":"tag","begin":"<f>","end":"</f>",
      "content":{"type":"json_schema","json_schema":{"type":"integer"}}}})");
  EXPECT_TRUE(Describes(tag, "<f>12</f>"));
  EXPECT_FALSE(Describes(tag, "<f>\"a\"</f>"));
}

TEST_F(MatcherTest, LengthsHoldInStructuralTagsToo) {
  const GrammarPtr tag = Compiled(GrammarKind::kStructuralTag, R"({"format":{"type":"triggered_tags","triggers":["<f>"],
      "tags":[{"type":"tag","begin":"<f>","end":"</f>",
      "content":{"type":"json_schema","json_schema":{"type":"string","minLength":1,"maxLength":2}}}]}})");
  EXPECT_TRUE(Describes(tag, "a\tb <f>\"ab\"</f> c"));
  EXPECT_FALSE(Describes(tag, "<f>\"abc\"</f>"));
  EXPECT_FALSE(Describes(tag, "<f>\"\t\"</f>"));
}

TEST_F(MatcherTest, ThoughtsComeFirst) {
  const auto compiled = [this](GrammarThoughts thoughts) {
    return *compiler_.Compile({.kind = GrammarKind::kRegex, .text = "[0-9]+", .thoughts = thoughts});
  };
  const GrammarPtr opened = compiled(GrammarThoughts::kOpened);
  EXPECT_TRUE(Describes(opened, "let < me </thin see</think>\n\n12"));
  EXPECT_FALSE(Describes(opened, "12"));
  EXPECT_FALSE(Describes(opened, "a</think>b"));
  const GrammarPtr may = compiled(GrammarThoughts::kMay);
  EXPECT_TRUE(Describes(may, "<think>a</think>12"));
  EXPECT_TRUE(Describes(may, "12"));
}

TEST_F(MatcherTest, MarksAreWrittenOnlyWhereTheyAreAskedFor) {
  std::vector<uint32_t> mask(MaskWords(vocabulary_.vocab_size()));
  for (const bool with_marks : {false, true}) {
    const Result<GrammarPtr> grammar =
        compiler_.Compile({.kind = GrammarKind::kRegex, .text = "\\[TOOL_CALLS\\]x", .with_marks = with_marks});
    ASSERT_TRUE(grammar.ok());
    const std::unique_ptr<Matcher> matcher = (*grammar)->NewMatcher();
    ASSERT_TRUE(*matcher->FillMask(mask));
    EXPECT_EQ(Allows(mask, vocabulary_.mark()), with_marks);
    EXPECT_EQ(*matcher->Accept(vocabulary_.mark()), with_marks);
  }
}

TEST_F(MatcherTest, LargeCountsAreQuick) {
  for (
      const char* schema :
      {R"({"type":"array","items":{"type":"integer"},"minItems":10,"maxItems":1000})",
       R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string","maxLength":65536}}}}})"}) {
    const auto start = std::chrono::steady_clock::now();
    const GrammarPtr grammar = Compiled(GrammarKind::kJsonSchema, schema);
    ASSERT_NE(grammar, nullptr);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    EXPECT_LT(took.count(), 1.0) << schema;
    EXPECT_LT(grammar->memory_bytes(), size_t{100} << 20) << schema;
  }
}

}  // namespace
}  // namespace adit::grammar
