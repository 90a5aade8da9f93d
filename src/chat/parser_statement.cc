#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "chat/parser_internal.h"
#include "chat/text.h"

namespace adit::chat {
namespace {

// Tags of Jinja that need what a chat template does not have: other templates, or escaping of all output.
constexpr std::string_view kRefusedTags[] = {"autoescape", "block", "extends", "from", "import", "include"};

}  // namespace

// Statements and output up to a tag of `end_tags`, which stays; to the end of the template if there are none.
Result<Body> Parser::ParseBody(const Names& end_tags) {
  Body body;
  std::unique_ptr<OutputStmt> output;
  const auto flush = [&] {
    if (output != nullptr) body.push_back(std::move(output));
    output = nullptr;
  };
  const auto add = [&](int line_of_item, ExprPtr item) {
    if (output == nullptr) output = std::make_unique<OutputStmt>(line_of_item);
    output->items.push_back(std::move(item));
  };
  while (current().type != TokenType::kEnd) {
    const Token& token = current();
    Advance();
    if (token.type == TokenType::kData) {
      add(token.line, NewConst(token.line, NewText(token.text)));
    } else if (token.type == TokenType::kVariableBegin) {
      ADIT_ASSIGN_OR_RETURN(ExprPtr item, ParseTuple(true, {}, false));
      add(token.line, std::move(item));
      ADIT_RETURN_IF_ERROR(Expect(TokenType::kVariableEnd, "}}"));
    } else {
      flush();
      if (AtName(end_tags)) return body;
      ADIT_ASSIGN_OR_RETURN(StmtPtr stmt, ParseStatement(end_tags));
      body.push_back(std::move(stmt));
      ADIT_RETURN_IF_ERROR(Expect(TokenType::kBlockEnd, "%}"));
    }
  }
  flush();
  if (end_tags.empty()) return body;
  return SyntaxError(line(), fmt::format("the template ends where '{}' is expected", fmt::join(end_tags, "' or '")));
}

// The body of a tag: from the end of the tag on.
Result<Body> Parser::ParseStatements(const Names& end_tags) {
  SkipOperator(":");
  ADIT_RETURN_IF_ERROR(Expect(TokenType::kBlockEnd, "%}"));
  return ParseBody(end_tags);
}

Result<Body> Parser::ParseStatementsAndDrop(std::string_view end_tag) {
  ADIT_ASSIGN_OR_RETURN(Body body, ParseStatements({end_tag}));
  Advance();
  return body;
}

Result<StmtPtr> Parser::ParseStatement(const Names& end_tags) {
  const Nesting nesting(&depth_);
  ADIT_RETURN_IF_ERROR(CheckDepth());
  const Token& tag = current();
  if (tag.type != TokenType::kName) return SyntaxError(tag.line, "a tag begins with its name");
  if (tag.text == "if") return ParseIf();
  if (tag.text == "for") return ParseFor();
  if (tag.text == "set") return ParseSet();
  if (tag.text == "macro") return ParseMacro();
  if (tag.text == "call") return ParseCallBlock();
  if (tag.text == "filter") return ParseFilterBlock();
  if (tag.text == "with") return ParseWith();
  if (tag.text == "generation") return ParseGeneration();
  if (tag.text == "print") return ParsePrint();
  if (tag.text == "break" || tag.text == "continue") return ParseLoopControl();
  return UnknownTag(tag, end_tags);
}

Status Parser::UnknownTag(const Token& tag, const Names& end_tags) const {
  if (std::ranges::find(kRefusedTags, tag.text) != std::end(kRefusedTags)) {
    return SyntaxError(tag.line, fmt::format("the tag '{}' is not supported in chat templates", tag.text));
  }
  if (end_tags.empty()) return SyntaxError(tag.line, fmt::format("unknown tag '{}'", tag.text));
  return SyntaxError(tag.line,
                     fmt::format("unknown tag '{}' where '{}' is expected", tag.text, fmt::join(end_tags, "' or '")));
}

Result<StmtPtr> Parser::ParseIf() {
  auto stmt = std::make_unique<IfStmt>(line());
  do {
    Advance();  // if or elif
    ADIT_ASSIGN_OR_RETURN(ExprPtr test, ParseTuple(false, {}, false));
    ADIT_ASSIGN_OR_RETURN(Body body, ParseStatements({"elif", "else", "endif"}));
    stmt->branches.emplace_back(std::move(test), std::move(body));
  } while (current().IsName("elif"));
  if (SkipName("else")) {
    ADIT_ASSIGN_OR_RETURN(stmt->else_body, ParseStatements({"endif"}));
  }
  Advance();
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseFor() {
  auto stmt = std::make_unique<ForStmt>(line());
  Advance();
  ++for_depth_;
  ADIT_ASSIGN_OR_RETURN(stmt->target, ParseTarget({"in"}, false));
  if (!SkipName("in")) {
    return SyntaxError(line(), fmt::format("expected 'in', got {}", DescribeToken(current())));
  }
  ADIT_ASSIGN_OR_RETURN(stmt->iterable, ParseTuple(false, {"recursive"}, false));
  if (SkipName("if")) {
    ADIT_ASSIGN_OR_RETURN(stmt->test, ParseExpression());
  }
  stmt->recursive = SkipName("recursive");
  const int outer_loops = loop_depth_;
  ++loop_depth_;
  ADIT_ASSIGN_OR_RETURN(stmt->body.body, ParseStatements({"else", "endfor"}));
  // A recursive loop is a function of its own: its else part cannot end a loop around it.
  loop_depth_ = stmt->recursive ? 0 : outer_loops;
  if (SkipName("else")) {
    ADIT_ASSIGN_OR_RETURN(stmt->else_block.body, ParseStatements({"endfor"}));
  }
  Advance();
  loop_depth_ = outer_loops;
  --for_depth_;
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseSet() {
  const int first_line = line();
  Advance();
  ADIT_ASSIGN_OR_RETURN(Target target, ParseTarget({}, true));
  if (SkipOperator("=")) {
    auto stmt = std::make_unique<SetStmt>(first_line);
    stmt->target = std::move(target);
    ADIT_ASSIGN_OR_RETURN(stmt->value, ParseTuple(true, {}, false));
    return StmtPtr(std::move(stmt));
  }
  auto stmt = std::make_unique<SetBlockStmt>(first_line);
  stmt->target = std::move(target);
  while (SkipOperator("|")) {
    ADIT_ASSIGN_OR_RETURN(stmt->filter, ParseFilter(std::move(stmt->filter)));
    ADIT_RETURN_IF_ERROR(CheckHeight(*stmt->filter));
  }
  ADIT_ASSIGN_OR_RETURN(stmt->block.body, ParseStatementsAndDrop("endset"));
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseWith() {
  auto stmt = std::make_unique<WithStmt>(line());
  Advance();
  while (current().type != TokenType::kBlockEnd) {
    if (!stmt->assignments.empty()) ADIT_RETURN_IF_ERROR(ExpectOperator(","));
    ADIT_ASSIGN_OR_RETURN(Target target, ParseTarget({}, false));
    ADIT_RETURN_IF_ERROR(ExpectOperator("="));
    ADIT_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
    stmt->assignments.emplace_back(std::move(target), std::move(value));
  }
  ADIT_ASSIGN_OR_RETURN(stmt->block.body, ParseStatementsAndDrop("endwith"));
  return StmtPtr(std::move(stmt));
}

Status Parser::ParseSignature(MacroDef* def) {
  ADIT_RETURN_IF_ERROR(ExpectOperator("("));
  bool has_fallback = false;
  while (!current().IsOperator(")")) {
    if (!def->params.empty()) ADIT_RETURN_IF_ERROR(ExpectOperator(","));
    MacroParam param;
    ADIT_ASSIGN_OR_RETURN(const Str* name, ExpectName());
    param.name = Intern(name->view());
    for (const MacroParam& other : def->params) {
      if (other.name == param.name) {
        return SyntaxError(line(), fmt::format("parameter '{}' is repeated", name->view()));
      }
    }
    if (SkipOperator("=")) {
      ADIT_ASSIGN_OR_RETURN(param.fallback, ParseExpression());
      has_fallback = true;
    } else if (has_fallback) {
      return SyntaxError(line(), "a parameter without a default follows one with a default");
    }
    def->params.push_back(std::move(param));
  }
  return ExpectOperator(")");
}

Status Parser::ParseMacroBody(std::string_view end_tag, MacroDef* def) {
  const int outer_loops = std::exchange(loop_depth_, 0);
  ADIT_ASSIGN_OR_RETURN(def->block.body, ParseStatementsAndDrop(end_tag));
  loop_depth_ = outer_loops;
  return Status();
}

Result<StmtPtr> Parser::ParseMacro() {
  auto stmt = std::make_unique<MacroStmt>(line());
  Advance();
  ADIT_ASSIGN_OR_RETURN(stmt->def.name, ExpectName());
  stmt->name = Intern(stmt->def.name->view());
  ADIT_RETURN_IF_ERROR(ParseSignature(&stmt->def));
  ADIT_RETURN_IF_ERROR(ParseMacroBody("endmacro", &stmt->def));
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseCallBlock() {
  auto stmt = std::make_unique<CallBlockStmt>(line());
  Advance();
  if (current().IsOperator("(")) ADIT_RETURN_IF_ERROR(ParseSignature(&stmt->def));
  ADIT_ASSIGN_OR_RETURN(stmt->call, ParseExpression());
  if (stmt->call->kind != ExprKind::kCall) return SyntaxError(stmt->line, "a call block needs a call");
  ADIT_RETURN_IF_ERROR(ParseMacroBody("endcall", &stmt->def));
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseFilterBlock() {
  auto stmt = std::make_unique<FilterBlockStmt>(line());
  Advance();
  do {
    ADIT_ASSIGN_OR_RETURN(stmt->filter, ParseFilter(std::move(stmt->filter)));
    ADIT_RETURN_IF_ERROR(CheckHeight(*stmt->filter));
  } while (SkipOperator("|"));
  ADIT_ASSIGN_OR_RETURN(stmt->block.body, ParseStatementsAndDrop("endfilter"));
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseGeneration() {
  auto stmt = std::make_unique<GenerationStmt>(line());
  Advance();
  ADIT_RETURN_IF_ERROR(ParseMacroBody("endgeneration", &stmt->def));
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParsePrint() {
  auto stmt = std::make_unique<OutputStmt>(line());
  Advance();
  while (current().type != TokenType::kBlockEnd) {
    if (!stmt->items.empty()) ADIT_RETURN_IF_ERROR(ExpectOperator(","));
    ADIT_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression());
    stmt->items.push_back(std::move(item));
  }
  return StmtPtr(std::move(stmt));
}

Result<StmtPtr> Parser::ParseLoopControl() {
  const Token& tag = current();
  Advance();
  if (loop_depth_ == 0) return SyntaxError(tag.line, fmt::format("'{}' outside of a loop", tag.text));
  if (tag.text == "break") return StmtPtr(std::make_unique<BreakStmt>(tag.line));
  return StmtPtr(std::make_unique<ContinueStmt>(tag.line));
}

Result<Target> Parser::ParseTarget(const Names& end_names, bool with_namespace) {
  Target target;
  target.kind = Target::Kind::kTuple;
  bool has_comma = false;
  while (!AtTupleEnd(end_names)) {
    ADIT_ASSIGN_OR_RETURN(Target item, ParseTargetItem(with_namespace));
    target.items.push_back(std::move(item));
    if (!SkipOperator(",")) break;
    has_comma = true;
  }
  if (has_comma) return target;
  if (target.items.empty()) {
    return SyntaxError(line(), fmt::format("expected a name to assign to, got {}", DescribeToken(current())));
  }
  Target only = std::move(target.items.front());
  return only;
}

Result<Target> Parser::ParseTargetItem(bool with_namespace) {
  const int first_line = line();
  if (with_namespace && current().type == TokenType::kName && next().IsOperator(".")) {
    Target target;
    target.kind = Target::Kind::kNamespace;
    target.name = Intern(current().text);
    Advance();
    Advance();
    ADIT_ASSIGN_OR_RETURN(target.member, ExpectName());
    return target;
  }
  ADIT_ASSIGN_OR_RETURN(const ExprPtr expr, ParsePrimary());
  ADIT_ASSIGN_OR_RETURN(Target target, ToTarget(*expr));
  ADIT_RETURN_IF_ERROR(CheckTarget(target, first_line));
  return target;
}

Result<Target> Parser::ToTarget(const Expr& expr) const {
  Target target;
  if (expr.kind == ExprKind::kName) {
    target.name = static_cast<const NameExpr&>(expr).name;
    return target;
  }
  if (expr.kind != ExprKind::kTuple) return SyntaxError(expr.line, "only names and tuples of names can be assigned to");
  target.kind = Target::Kind::kTuple;
  for (const ExprPtr& item : static_cast<const SequenceExpr&>(expr).items) {
    ADIT_ASSIGN_OR_RETURN(Target child, ToTarget(*item));
    target.items.push_back(std::move(child));
  }
  return target;
}

Status Parser::CheckTarget(const Target& target, int line_of_target) const {
  if (target.kind == Target::Kind::kName && target.name == out_.loop && for_depth_ > 0) {
    return SyntaxError(line_of_target, "the variable 'loop' cannot be assigned to inside a loop");
  }
  for (const Target& item : target.items) ADIT_RETURN_IF_ERROR(CheckTarget(item, line_of_target));
  return Status();
}

}  // namespace adit::chat
