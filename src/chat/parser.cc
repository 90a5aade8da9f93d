#include "chat/parser.h"

#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/parser_internal.h"
#include "chat/scope_analysis.h"
#include "chat/text.h"

namespace adit::chat {

void Parser::Advance() {
  if (pos_ + 1 < tokens_.size()) ++pos_;
}

bool Parser::SkipName(std::string_view name) {
  if (!current().IsName(name)) return false;
  Advance();
  return true;
}

bool Parser::SkipOperator(std::string_view op) {
  if (!current().IsOperator(op)) return false;
  Advance();
  return true;
}

Status Parser::Expect(TokenType type, std::string_view text) {
  if (current().type != type || current().text != text) {
    return SyntaxError(line(), fmt::format("expected '{}', got {}", text, DescribeToken(current())));
  }
  Advance();
  return Status();
}

Result<const Str*> Parser::ExpectName() {
  if (current().type != TokenType::kName) {
    return SyntaxError(line(), fmt::format("expected a name, got {}", DescribeToken(current())));
  }
  const Str* name = NewText(current().text);
  Advance();
  return name;
}

bool Parser::AtName(const Names& names) const {
  return std::ranges::any_of(names, [this](std::string_view name) { return current().IsName(name); });
}

NameId Parser::Intern(std::string_view name) {
  const auto found = out_.name_ids.find(name);
  if (found != out_.name_ids.end()) return found->second;
  const auto id = static_cast<NameId>(out_.names.size());
  const Str* text = NewText(name);
  out_.names.push_back(text);
  out_.name_ids.emplace(text->view(), id);
  return id;
}

const Str* Parser::NewText(std::string_view text) {
  const Str* str = NewStr(out_.constants, text, false);
  IsAscii(*str);  // settled now: renders share the string
  return str;
}

ExprPtr Parser::NewConst(int at_line, const Value& value) const {
  auto expr = std::make_unique<ConstExpr>(at_line);
  expr->value = value;
  return expr;
}

void Parser::Adopt(Expr& parent, const ExprPtr& child) {
  if (child != nullptr) parent.height = std::max(parent.height, child->height + 1);
}

void Parser::Adopt(Expr& parent, const CallArgsExpr& args) {
  for (const ExprPtr& arg : args.positional) Adopt(parent, arg);
  for (const auto& [name, arg] : args.keywords) Adopt(parent, arg);
  Adopt(parent, args.star);
  Adopt(parent, args.double_star);
}

Status Parser::CheckHeight(const Expr& expr) const {
  if (expr.height <= kMaxParseDepth) return Status();
  return ResourceExhausted("chat template: line {}: an expression nested deeper than {} levels", line(),
                           kMaxParseDepth);
}

Status Parser::CheckDepth() const {
  if (depth_ <= kMaxParseDepth) return Status();
  return ResourceExhausted("chat template: line {}: nested deeper than {} levels", line(), kMaxParseDepth);
}

Result<Body> Parser::ParseRoot() {
  out_.loop = Intern("loop");
  out_.caller = Intern("caller");
  out_.kwargs = Intern("kwargs");
  out_.varargs = Intern("varargs");
  return ParseBody({});
}

Result<std::unique_ptr<ParsedTemplate>> ParseTemplate(std::string_view source) {
  if (source.size() > kMaxTemplateBytes) {
    return ResourceExhausted("chat template: {} bytes, at most {} are accepted", source.size(), kMaxTemplateBytes);
  }
  if (!IsValidUtf8(source)) return InvalidArgument("chat template: the text is not valid UTF-8");
  ADIT_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(source));
  auto parsed = std::make_unique<ParsedTemplate>();
  ADIT_ASSIGN_OR_RETURN(parsed->root.body, Parser(std::move(tokens), *parsed).ParseRoot());
  ADIT_RETURN_IF_ERROR(AnalyzeScopes(*parsed));
  return parsed;
}

}  // namespace adit::chat
