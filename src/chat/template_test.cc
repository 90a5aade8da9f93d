#include "chat/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace adit::chat {
namespace {

using testing::HasSubstr;

Result<std::string> RenderWith(std::string_view source, std::string_view context, const RenderOptions& options) {
  ADIT_ASSIGN_OR_RETURN(const Template parsed, Template::Parse(source));
  return parsed.RenderText(context, options);
}

std::string RenderOk(std::string_view source, std::string_view context = "{}") {
  const Result<std::string> result = RenderWith(source, context, {});
  EXPECT_TRUE(result.ok()) << source << ": " << result.status().ToString();
  return result.ok() ? *result : "";
}

Status RenderError(std::string_view source, std::string_view context = "{}") {
  const Result<std::string> result = RenderWith(source, context, {});
  EXPECT_FALSE(result.ok()) << source << " rendered: " << *result;
  return result.status();
}

TEST(Template, SerialisesAsJsonDumps) {
  const char* context = R"({"x": {"b":1,"a":[1,2],"p":"a/b <é> & 'q'","t":true,"n":null,"f":1.0}})";
  EXPECT_EQ(RenderOk("{{ x | tojson }}", context),
            R"({"b": 1, "a": [1, 2], "p": "a/b <é> & 'q'", "t": true, "n": null, "f": 1.0})");
  EXPECT_EQ(RenderOk(R"({{ {"b":1,"a":[1,2]} | tojson(sort_keys=true, separators=(',', ':')) }})"),
            R"({"a":[1,2],"b":1})");
  EXPECT_EQ(RenderOk(R"({{ {"a":{},"b":[],"c":[1]} | tojson(indent=2) }})"),
            "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    1\n  ]\n}");
  EXPECT_EQ(RenderOk(R"({{ "é😀" | tojson(ensure_ascii=true) }})"), R"("\u00e9\ud83d\ude00")");
}

TEST(Template, KeepsTheOrderOfKeys) {
  EXPECT_EQ(RenderOk("{{ tools[0] | tojson }}", R"({"tools": [{"z": 1, "a": {"y": 2, "b": 3}, "m": 4}]})"),
            R"({"z": 1, "a": {"y": 2, "b": 3}, "m": 4})");
}

TEST(Template, RepeatedKeysKeepThePlaceOfTheFirstAndTheValueOfTheLast) {
  EXPECT_EQ(RenderOk("{{ d | tojson }}", R"({"d": {"a": 1, "b": 2, "a": 3}})"), R"({"a": 3, "b": 2})");
}

TEST(Template, TrimsWhiteSpaceAroundBlocks) {
  EXPECT_EQ(
      RenderOk("<s>\n  {% if true %}\n  X\n  {% endif %}\n{{- ' y' -}}\n  z  {%- if false %}q{% endif %}\n\nend\n"),
      "<s>\n  X\n yz\nend");
  EXPECT_EQ(RenderOk("a\n  {# note #}\nb\n"), "a\nb");
  EXPECT_EQ(RenderOk("a\n  {%+ if true %}\nX\n{% endif %}\n"), "a\n  X\n");
  EXPECT_EQ(RenderOk("a\r\n{% if true %}\r\nX\r\n{% endif %}\r\nb\r\n"), "a\nX\nb");
  EXPECT_EQ(RenderOk("a\n {{ 1 }}\nb\n\n"), "a\n 1\nb\n");
  EXPECT_EQ(RenderOk("{% if true -%}  \n\n x {%- endif %}\n y"), "x y");
}

// One rule for the parts of a message whatever its role, as a template may write it.
constexpr std::string_view kPartsTemplate =
    "{%- for m in messages %}[{{ m.role }}:"
    "{%- if m.content is string %}{{ m.content }}"
    "{%- elif m.content is iterable %}{% for part in m.content %}{{ part.text }}{% endfor %}"
    "{%- endif %}{% for call in m.tool_calls or [] %}<{{ call.function.name }}"
    "{% for k, v in call.function.arguments | items %} {{ k }}={{ v }}{% endfor %}>"
    "{{ call.function.arguments | tojson }}{% endfor %}]{% endfor %}";

TEST(Template, RendersContentAsTextOrParts) {
  for (const char* role : {"system", "user", "assistant"}) {
    const std::string head = std::string(R"({"messages": [{"role": ")") + role + R"(", "content": )";
    const std::string expected = std::string("[") + role + ":You are helpful.]";
    EXPECT_EQ(RenderOk(kPartsTemplate, head + R"("You are helpful."}]})"), expected);
    EXPECT_EQ(
        RenderOk(kPartsTemplate, head + R"([{"type":"text","text":"You are "},{"type":"text","text":"helpful."}]}]})"),
        expected);
  }
}

TEST(Template, RendersMissingNullAndEmptyContent) {
  const std::string call = R"("tool_calls": [{"function": {"name": "f", "arguments": {"city": "Paris"}}}])";
  for (const std::string& content :
       {std::string(R"("content": null, )"), std::string(R"("content": "", )"), std::string()}) {
    EXPECT_EQ(RenderOk(kPartsTemplate, R"({"messages": [{"role": "assistant", )" + content + call + "}]}"),
              R"([assistant:<f city=Paris>{"city": "Paris"}])");
  }
}

TEST(Template, TakesContentOfAnyType) {
  EXPECT_EQ(RenderOk("{{ messages[0].content }}|{{ messages[0].nope }}", R"({"messages": [{"content": 5}]})"), "5|");
  EXPECT_THAT(RenderError("{{ 'a' + messages[0].content }}", R"({"messages": [{"content": 5}]})").message(),
              HasSubstr("can only concatenate str"));
}

TEST(Template, RaiseExceptionGivesItsMessageVerbatim) {
  const Status status = RenderError("a\n{{ raise_exception('roles must alternate: ' ~ role) }}", R"({"role": "tool"})");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "roles must alternate: tool");
}

TEST(Template, ErrorsNameLineAndCause) {
  EXPECT_EQ(RenderError("a\n{% if x %}\n{{ d.a.b }}\n{% endif %}", R"({"x": 1, "d": {}})").message(),
            "chat template: line 3: 'dict object' has no attribute 'a'");
  EXPECT_EQ(RenderError("\n\n{% for x in %}").message(), "chat template: line 3: expected an expression, got '%}'");
  EXPECT_EQ(RenderError("{% if x %}\n").message(),
            "chat template: line 1: the template ends where 'elif' or 'else' or 'endif' is expected");
  EXPECT_EQ(RenderError("\n{{ x | nope }}").message(), "chat template: line 2: no filter named 'nope'");
  EXPECT_EQ(RenderError("{{ 'a' | indent(1, 2, 3, 4) }}").message(),
            "chat template: line 1: filter 'indent' takes at most 3 arguments, 4 given");
}

TEST(Template, RefusesByName) {
  for (const char* tag :
       {"include 'a'", "import 'a' as b", "from 'a' import b", "extends 'a'", "block a", "autoescape true"}) {
    const std::string name = std::string(tag).substr(0, std::string(tag).find(' '));
    EXPECT_EQ(RenderError("{% " + std::string(tag) + " %}").message(),
              "chat template: line 1: the tag '" + name + "' is not supported in chat templates");
  }
  for (const char* filter : {"random", "pprint", "urlize"}) {
    EXPECT_THAT(RenderError("{{ x | " + std::string(filter) + " }}").message(),
                HasSubstr("the filter '" + std::string(filter) + "' is not supported in chat templates: "));
  }
}

TEST(Template, UnsupportedMethodsAndTextsAreErrors) {
  EXPECT_THAT(RenderError("{{ 'a'.encode() }}").message(), HasSubstr("'encode' of strings is not supported"));
  EXPECT_THAT(RenderError("{{ 'a'.upper }}").message(), HasSubstr("a value of type 'function' has no text"));
  EXPECT_THAT(RenderError("{{ [1] | map('string') }}").message(), HasSubstr("a lazy sequence has no text"));
  EXPECT_THAT(RenderError("{{ 9223372036854775807 + 1 }}").message(), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(RenderError("{{ 99999999999999999999 - 1 }}").message(), HasSubstr("cannot be computed with"));
  EXPECT_THAT(RenderError("{{ '&nope;' | striptags }}").message(), HasSubstr("&nope; is not known"));
  EXPECT_THAT(RenderError("{{ strftime_now('%Q') }}").message(), HasSubstr("'%Q' is not supported"));
}

TEST(Template, ContextMustBeAJsonObject) {
  EXPECT_EQ(RenderError("x", "[1]").message(), "chat template: the context is not a JSON object but of type list");
  EXPECT_EQ(RenderError("x", "{\"a\": }").message(), "chat template: the context is not valid JSON at byte 7");
  EXPECT_EQ(RenderError("x", "{\"a\": \"\xFF\"}").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(RenderError("x", "").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(RenderError("\xFF").message(), "chat template: the text is not valid UTF-8");
}

TEST(Template, NumbersOfTheContextKeepTheirKind) {
  EXPECT_EQ(RenderOk("{{ a }}|{{ b }}|{{ c }}|{{ d }}|{{ e }}",
                     R"({"a": 1, "b": 1.0, "c": -9223372036854775808, "d": 123456789012345678901234567890, "e": 1e2})"),
            "1|1.0|-9223372036854775808|123456789012345678901234567890|100.0");
}

TEST(Template, StrftimeNowUsesTheGivenTime) {
  RenderOptions options;
  options.now.tm_year = 124;
  options.now.tm_mon = 1;
  options.now.tm_mday = 29;
  options.now.tm_hour = 5;
  const Result<std::string> text = RenderWith("{{ strftime_now('%d %b %Y, %A, day %j, %I %p') }}", "{}", options);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "29 Feb 2024, Thursday, day 060, 05 AM");
}

TEST(Template, StrftimeNowWithoutATimeUsesTheClock) {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  const int year = std::stoi(RenderOk("{{ strftime_now('%Y') }}"));
  EXPECT_GE(year, local.tm_year + 1900);
  EXPECT_LE(year, local.tm_year + 1901);
}

TEST(Template, RendersOnSeveralThreadsAtOnce) {
  const Result<Template> parsed = Template::Parse(
      "{% set ns = namespace(n=0) %}{% for m in messages %}{% set ns.n = ns.n + 1 %}"
      "{{ 'é' ~ m.text[::-1] | upper }}{{ ns.n }}{% endfor %}");
  ASSERT_TRUE(parsed.ok());
  std::vector<std::string> texts(4);
  std::vector<std::jthread> threads;
  for (std::string& text : texts) {
    threads.emplace_back([&parsed, &text] {
      for (int i = 0; i < 50; ++i)
        text = parsed->RenderText(R"({"messages": [{"text": "äb"}, {"text": "c"}]})", {}).value();
    });
  }
  threads.clear();
  for (const std::string& text : texts) EXPECT_EQ(text, "éBÄ1éC2");
}

TEST(Template, MovedTemplatesRender) {
  Result<Template> parsed = Template::Parse("{{ x }}");
  ASSERT_TRUE(parsed.ok());
  Template moved = std::move(parsed).value();
  EXPECT_EQ(moved.RenderText(R"({"x": "y"})", {}).value(), "y");
}

}  // namespace
}  // namespace adit::chat
