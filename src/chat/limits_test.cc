#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "chat/template.h"

// Templates and contexts that would exhaust time, memory or the stack.
namespace adit::chat {
namespace {

using testing::HasSubstr;

RenderOptions SmallLimits() {
  RenderOptions options;
  options.max_output_bytes = size_t{1} << 20;
  options.max_steps = 300'000;
  return options;
}

std::string Repeat(std::string_view text, int times) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

Status StatusOf(const std::string& source, const std::string& context = "{}") {
  const Result<Template> parsed = Template::Parse(source);
  if (!parsed.ok()) return parsed.status();
  return parsed->RenderText(context, SmallLimits()).status();
}

void ExpectExhausted(const std::string& source, const std::string& what) {
  const Status status = StatusOf(source);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << source.substr(0, 100) << ": " << status.ToString();
  EXPECT_THAT(status.message(), HasSubstr(what)) << source.substr(0, 100);
}

TEST(Limits, Repetition) {
  ExpectExhausted("{{ 'a' * 10**9 }}", "limit on memory");
  ExpectExhausted("{{ 'a' * 10**18 }}", "limit on memory");
  ExpectExhausted("{{ [1] * 10**18 }}", "limit on memory");
  ExpectExhausted("{{ ('a' * 10000).replace('', 'b' * 10000) }}", "limit on memory");
  ExpectExhausted("{{ ('b' * 10000) | join('a' * 10000) }}", "limit on memory");
  ExpectExhausted("{{ 'a' | center(10**9) }}", "limit on memory");
  ExpectExhausted("{{ 'a'.zfill(10**12) }}", "limit on memory");
  ExpectExhausted("{{ '%1000000000d' % 5 }}", "limit on memory");
  ExpectExhausted("{{ '{:1000000000}'.format(5) }}", "limit on memory");
  ExpectExhausted("{{ [1] | tojson(indent=10**12) }}", "limit on memory");
  ExpectExhausted("{{ [1] | batch(10**15, 0) | list }}", "limit on memory");
  ExpectExhausted("{{ [1] | slice(10**15) | list }}", "limit on");
}

TEST(Limits, Doubling) {
  const std::string head = "{% set ns = namespace(s='x', l=[1]) %}{% for i in range(100) %}";
  ExpectExhausted(head + "{% set ns.s = ns.s + ns.s %}{% endfor %}", "limit on memory");
  ExpectExhausted(head + "{% set ns.s = ns.s ~ ns.s %}{% endfor %}", "limit on memory");
  ExpectExhausted(head + "{% set ns.l = ns.l + ns.l %}{% endfor %}", "limit on memory");
  ExpectExhausted(head + "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}", "limit on");
  ExpectExhausted(head + "{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l | tojson }}", "limit on");
}

TEST(Limits, BuildingAStringPieceByPieceIsCheap) {
  const Result<Template> parsed = Template::Parse(
      "{% set ns = namespace(s='') %}{% for i in range(20000) %}{% set ns.s = ns.s + 'some text' %}{% endfor %}{{ ns.s "
      "}}");
  ASSERT_TRUE(parsed.ok());
  const Result<std::string> text = parsed->RenderText("{}", SmallLimits());
  ASSERT_TRUE(text.ok()) << text.status().ToString();
  EXPECT_EQ(text->size(), 180'000U);
}

TEST(Limits, Steps) {
  ExpectExhausted(Repeat("{% for i in range(100000) %}", 5) + Repeat("{% endfor %}", 5), "limit on steps");
  ExpectExhausted("{% for i in range(100000) %}{{ i in range(100000) }}{% endfor %}", "limit on steps");
  ExpectExhausted("{{ range(100001) | list }}", "range() of 100001 items");
  ExpectExhausted("{{ ('a' * 900000).rfind('b' ~ 'a' * 400000) }}", "limit on steps");
}

TEST(Limits, Output) { ExpectExhausted("{% for i in range(10000) %}{{ 'a' * 1000 }}{% endfor %}", "limit on output"); }

TEST(Limits, Calls) {
  ExpectExhausted("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "calls nested deeper than 200 levels");
  ExpectExhausted("{% for a in [1] recursive %}{{ loop([1]) }}{% endfor %}", "calls nested deeper than 200 levels");
  ExpectExhausted("{% macro f() %}{{ (((((f() ~ 1) | upper) ~ 2) | lower) ~ 3) | trim }}{% endmacro %}{{ f() }}",
                  "evaluation nested deeper than 1000 levels");
}

TEST(Limits, NestingOfTemplates) {
  const int many = 100'000;
  for (const auto& [open, close] : {std::pair{"(", ")"}, {"[", "]"}, {"-", ""}, {"not ", ""}, {"{1:", "}"}}) {
    ExpectExhausted("{{ " + Repeat(open, many) + "1" + Repeat(close, many) + " }}", "nested deeper than 200 levels");
  }
  ExpectExhausted("{{ a" + Repeat(".b", many) + " }}", "nested deeper than 200 levels");
  ExpectExhausted("{{ a" + Repeat("[0]", many) + " }}", "nested deeper than 200 levels");
  ExpectExhausted("{{ a" + Repeat("()", many) + " }}", "nested deeper than 200 levels");
  ExpectExhausted("{{ a" + Repeat("|upper", many) + " }}", "nested deeper than 200 levels");
  ExpectExhausted("{{ 1" + Repeat(" if 1", many) + " }}", "nested deeper than 200 levels");
  ExpectExhausted(Repeat("{% if 1 %}", many), "nested deeper than 200 levels");
  ExpectExhausted("{% set x " + Repeat("|upper", many) + " %}", "nested deeper than 200 levels");
}

TEST(Limits, LongFlatTemplatesAreFine) {
  const auto render = [](const std::string& source) {
    const Result<Template> parsed = Template::Parse(source);
    return parsed.ok() ? parsed->RenderText("{}", {}).value().size() : 0;
  };
  EXPECT_EQ(render("{{ 0" + Repeat("+1", 20'000) + " }}"), 5U);
  EXPECT_EQ(render("{{ ''" + Repeat("~1", 20'000) + " }}"), 20'000U);
  EXPECT_EQ(render("{{ 1" + Repeat(" and 1", 20'000) + " }}"), 1U);
  EXPECT_EQ(render("{% if 0 %}" + Repeat("{% elif 0 %}", 20'000) + "{% else %}a{% endif %}"), 1U);
  EXPECT_EQ(render(Repeat("{% if a %}{% set b = 1 %}{% endif %}", 20'000)), 0U);
}

TEST(Limits, NestingOfValues) {
  const std::string head =
      "{% set ns = namespace(a=[], b=[], k=()) %}{% for i in range(1000) %}{% set ns.a = [ns.a] %}{% set ns.b = [ns.b] "
      "%}"
      "{% set ns.k = (ns.k,) %}{% endfor %}";
  ExpectExhausted(head + "{{ ns.a }}", "nested deeper than 256 levels");
  ExpectExhausted(head + "{{ ns.a | tojson }}", "nested deeper than 256 levels");
  ExpectExhausted(head + "{{ ns.a == ns.b }}", "nested deeper than 256 levels");
  ExpectExhausted(head + "{{ ns.a < ns.b }}", "nested deeper than 256 levels");
  ExpectExhausted(head + "{{ {ns.k: 1} }}", "a key of a dict");
}

TEST(Limits, CyclesHaveNoText) {
  ExpectExhausted("{% set ns = namespace() %}{% set ns.s = ns %}{{ ns }}", "nested deeper than 256 levels");
  ExpectExhausted("{% set ns = namespace() %}{% set ns.s = [ns] %}{{ [ns] }}", "nested deeper than 256 levels");
}

TEST(Limits, NestingOfTheContext) {
  const auto nested = [](int depth) { return "{\"a\": " + Repeat("[", depth) + Repeat("]", depth) + "}"; };
  EXPECT_TRUE(StatusOf("x", nested(190)).ok());
  EXPECT_EQ(StatusOf("x", nested(200)).code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(StatusOf("x", nested(100'000)).code(), StatusCode::kResourceExhausted);
  EXPECT_TRUE(StatusOf("{{ a }}", nested(190)).ok());
}

TEST(Limits, SizeOfTheTemplate) { ExpectExhausted(std::string(5 << 20, 'a'), "at most 4194304 are accepted"); }

TEST(Limits, UnsafeAttributesAreUndefined) {
  EXPECT_EQ(StatusOf("{{ ''.__class__ }}").message(), "");
  EXPECT_THAT(StatusOf("{{ ''.__class__.__mro__ }}").message(),
              HasSubstr("access to attribute '__class__' of 'str' object is unsafe"));
  EXPECT_THAT(StatusOf("{{ ''['__class__']() }}").message(), HasSubstr("is unsafe"));
  EXPECT_THAT(StatusOf("{{ '{0.__class__.x}'.format(1) }}").message(), HasSubstr("is unsafe"));
  EXPECT_THAT(StatusOf("{{ [].append(1) }}").message(), HasSubstr("is unsafe"));
  EXPECT_THAT(StatusOf("{{ {}.update({}) }}").message(), HasSubstr("is unsafe"));
  EXPECT_THAT(StatusOf("{{ ([] | attr('append'))(1) }}").message(), HasSubstr("is unsafe"));
}

}  // namespace
}  // namespace adit::chat
