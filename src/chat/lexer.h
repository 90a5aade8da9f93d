#ifndef ADIT_CHAT_LEXER_H_
#define ADIT_CHAT_LEXER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::chat {

enum class TokenType : uint8_t {
  kData,           // text between tags, white space control already done
  kVariableBegin,  // {{
  kVariableEnd,    // }}
  kBlockBegin,     // {%
  kBlockEnd,       // %}
  kName,
  kString,   // text with escapes resolved
  kInteger,  // text is empty, or holds the digits of one beyond 64 bits
  kFloat,
  kOperator,  // text is the operator
  kEnd,
};

struct Token {
  TokenType type = TokenType::kEnd;
  int line = 0;
  std::string text;
  int64_t integer = 0;
  double real = 0;

  bool IsName(std::string_view name) const { return type == TokenType::kName && text == name; }
  bool IsOperator(std::string_view op) const { return type == TokenType::kOperator && text == op; }
};

// As errors show a token: "end of template", 'endif', '}}'.
std::string DescribeToken(const Token& token);

// Splits a template into tokens, the last of them kEnd. Line ends become \n and one at the very end is dropped;
// the line end after a block or comment, and blanks before it on a line of its own, are dropped unless a + asks to keep
// them; a - strips all white space. Comments leave no token, a raw block its text. Precondition: valid UTF-8.
// InvalidArgument with line and cause.
Result<std::vector<Token>> Tokenize(std::string_view source);

// "chat template: line 3: ..."
Status SyntaxError(int line, std::string_view cause);

}  // namespace adit::chat

#endif  // ADIT_CHAT_LEXER_H_
