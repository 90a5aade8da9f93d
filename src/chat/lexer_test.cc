#include "chat/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::chat {
namespace {

// Tokens in short: text in quotes, numbers, and the rest as it is.
std::string Tokens(std::string_view source) {
  const Result<std::vector<Token>> tokens = Tokenize(source);
  if (!tokens.ok()) return tokens.status().message();
  std::string shown;
  for (const Token& token : *tokens) {
    if (token.type == TokenType::kEnd) break;
    if (!shown.empty()) shown += ' ';
    if (token.type == TokenType::kData || token.type == TokenType::kString) {
      shown += "'" + token.text + "'";
    } else if (token.type == TokenType::kInteger && token.text.empty()) {
      shown += std::to_string(token.integer);
    } else if (token.type == TokenType::kFloat) {
      shown += std::to_string(token.real);
    } else {
      shown += token.text;
    }
  }
  return shown;
}

TEST(Lexer, SplitsTextTagsAndCode) {
  EXPECT_EQ(Tokens("a{{ b.c[1] }}d{% if x == 'y' %}{# no #}"), "'a' {{ b . c [ 1 ] }} 'd' {% if x == 'y' %}");
  EXPECT_EQ(Tokens("{{ a//b**c>=d~'x' }}"), "{{ a // b ** c >= d ~ 'x' }}");
  EXPECT_EQ(Tokens("{ {x} #}"), "'{ {x} #}'");
}

TEST(Lexer, ClosingTagsCountOutsideOfBrackets) {
  EXPECT_EQ(Tokens("{{ {'a': {}} }}"), "{{ { 'a' : { } } }}");
  EXPECT_EQ(Tokens("{{ '}}' }}"), "{{ '}}' }}");
}

TEST(Lexer, ReadsNumbers) {
  EXPECT_EQ(Tokens("{{ 1 007 1_0 0x1F 1.5 1e2 a.0.1 }}"), "{{ 1 0 7 10 31 1.500000 100.000000 a . 0 . 1 }}");
  EXPECT_EQ(Tokens("{{ 00 7 }}"), "{{ 0 7 }}");
  EXPECT_EQ(Tokens("{{ 123456789012345678901 }}"), "{{ 123456789012345678901 }}");
}

TEST(Lexer, ResolvesEscapes) {
  EXPECT_EQ(Tokens(R"({{ 'a\n\x41\u00e9\101\q\'' }})"), "{{ 'a\nAéA\\q'' }}");
  EXPECT_EQ(Tokens("{{ 'a\\\nb' }}"), "{{ 'ab' }}");
}

TEST(Lexer, ControlsWhiteSpace) {
  EXPECT_EQ(Tokens("a \n {%- x -%} \n b"), "'a' {% x %} 'b'");
  EXPECT_EQ(Tokens("a\n  {% x %}\n  b"), "'a\n' {% x %} '  b'");
  EXPECT_EQ(Tokens("a\n  {%+ x +%}\nb"), "'a\n  ' {% x %} '\nb'");
  EXPECT_EQ(Tokens("a {% x %}\nb"), "'a ' {% x %} 'b'");
  EXPECT_EQ(Tokens("a\n  {{ x }}\nb"), "'a\n  ' {{ x }} '\nb'");
  EXPECT_EQ(Tokens("a\n  {{- x -}}\nb"), "'a' {{ x }} 'b'");
}

TEST(Lexer, RawBlocksAreText) {
  EXPECT_EQ(Tokens("{% raw %}{{ x }}{% endraw %}"), "'{{ x }}'");
  EXPECT_EQ(Tokens("{%- raw -%} a {%- endraw -%} b"), "'a' 'b'");
}

TEST(Lexer, ErrorsNameTheLine) {
  EXPECT_EQ(Tokens("\n{{ 'a }}"), "chat template: line 2: a string without its closing quote");
  EXPECT_EQ(Tokens("{{ a ! }}"), "chat template: line 1: unexpected character '!'");
  EXPECT_EQ(Tokens("{{ (] }}"), "chat template: line 1: unexpected ']', expected ')'");
  EXPECT_EQ(Tokens("{{ ) }}"), "chat template: line 1: unexpected ')'");
  EXPECT_EQ(Tokens("a\n\n{# b"), "chat template: line 3: a comment {# without its end #}");
  EXPECT_EQ(Tokens("{% raw %}"), "chat template: line 1: a raw block without its end {% endraw %}");
  EXPECT_EQ(Tokens("{{ '\\ud800' }}"), "chat template: line 1: the escape \\ud800 is no character");
  EXPECT_EQ(Tokens("{{ '\\xg0' }}"), "chat template: line 1: the escape \\x takes 2 hex digits");
}

}  // namespace
}  // namespace adit::chat
