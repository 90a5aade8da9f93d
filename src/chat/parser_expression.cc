#include <algorithm>

#include "base/error.h"
#include "chat/parser_internal.h"

namespace adit::chat {

Result<ExprPtr> Parser::ParseExpression(bool with_conditional) {
  const Nesting nesting(&depth_);
  ADIT_RETURN_IF_ERROR(CheckDepth());
  return with_conditional ? ParseConditional() : ParseLogic(true);
}

bool Parser::AtTupleEnd(const Names& end_names) const {
  return current().type == TokenType::kVariableEnd || current().type == TokenType::kBlockEnd ||
         current().IsOperator(")") || AtName(end_names);
}

Result<ExprPtr> Parser::ParseTuple(bool with_conditional, const Names& end_names, bool in_parentheses) {
  const int first_line = line();
  auto tuple = std::make_unique<SequenceExpr>(ExprKind::kTuple, first_line);
  bool has_comma = false;
  while (!AtTupleEnd(end_names)) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression(with_conditional));
    Adopt(*tuple, item);
    tuple->items.push_back(std::move(item));
    if (!SkipOperator(",")) break;
    has_comma = true;
  }
  if (!has_comma && !tuple->items.empty()) return std::move(tuple->items.front());
  if (!has_comma && !in_parentheses) {
    return SyntaxError(line(), fmt::format("expected an expression, got {}", DescribeToken(current())));
  }
  return ExprPtr(std::move(tuple));
}

Result<ExprPtr> Parser::ParseConditional() {
  ADIT_ASSIGN_OR_RETURN(ExprPtr expr, ParseLogic(true));
  while (current().IsName("if")) {
    auto conditional = std::make_unique<ConditionalExpr>(line());
    Advance();
    conditional->if_true = std::move(expr);
    ADIT_ASSIGN_OR_RETURN(conditional->test, ParseLogic(true));
    if (SkipName("else")) {
      ADIT_ASSIGN_OR_RETURN(conditional->if_false, ParseExpression());
    }
    Adopt(*conditional, conditional->if_true);
    Adopt(*conditional, conditional->test);
    Adopt(*conditional, conditional->if_false);
    ADIT_RETURN_IF_ERROR(CheckHeight(*conditional));
    expr = std::move(conditional);
  }
  return expr;
}

Result<ExprPtr> Parser::ParseLogic(bool is_or) {
  const std::string_view word = is_or ? "or" : "and";
  const auto parse_operand = [&] { return is_or ? ParseLogic(false) : ParseNot(); };
  const int first_line = line();
  ADIT_ASSIGN_OR_RETURN(ExprPtr first, parse_operand());
  if (!current().IsName(word)) return first;
  auto logic = std::make_unique<LogicExpr>(first_line);
  logic->is_or = is_or;
  Adopt(*logic, first);
  logic->operands.push_back(std::move(first));
  while (SkipName(word)) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr operand, parse_operand());
    Adopt(*logic, operand);
    logic->operands.push_back(std::move(operand));
  }
  return ExprPtr(std::move(logic));
}

Result<ExprPtr> Parser::ParseNot() {
  if (!current().IsName("not")) return ParseCompare();
  const Nesting nesting(&depth_);
  ADIT_RETURN_IF_ERROR(CheckDepth());
  auto expr = std::make_unique<UnaryExpr>(line());
  Advance();
  expr->op = UnaryOp::kNot;
  ADIT_ASSIGN_OR_RETURN(expr->operand, ParseNot());
  Adopt(*expr, expr->operand);
  return ExprPtr(std::move(expr));
}

bool Parser::TakeCompareOp(CompareOp* op) {
  constexpr std::pair<std::string_view, CompareOp> kOps[] = {
      {"==", CompareOp::kEqual},     {"!=", CompareOp::kNotEqual}, {"<", CompareOp::kLess},
      {"<=", CompareOp::kLessEqual}, {">", CompareOp::kGreater},   {">=", CompareOp::kGreaterEqual},
  };
  if (current().IsName("not") && next().IsName("in")) {
    Advance();
    Advance();
    *op = CompareOp::kNotIn;
    return true;
  }
  if (SkipName("in")) {
    *op = CompareOp::kIn;
    return true;
  }
  for (const auto& [text, value] : kOps) {
    if (!SkipOperator(text)) continue;
    *op = value;
    return true;
  }
  return false;
}

Result<ExprPtr> Parser::ParseCompare() {
  const int first_line = line();
  ADIT_ASSIGN_OR_RETURN(ExprPtr first, ParseSum());
  CompareOp op;
  if (!TakeCompareOp(&op)) return first;
  auto compare = std::make_unique<CompareExpr>(first_line);
  Adopt(*compare, first);
  compare->first = std::move(first);
  do {
    ADIT_ASSIGN_OR_RETURN(ExprPtr operand, ParseSum());
    Adopt(*compare, operand);
    compare->rest.emplace_back(op, std::move(operand));
  } while (TakeCompareOp(&op));
  return ExprPtr(std::move(compare));
}

bool Parser::TakeArithmeticOp(std::string_view ops, ArithmeticOp* op) {
  constexpr std::pair<std::string_view, ArithmeticOp> kOps[] = {
      {"+", ArithmeticOp::kAdd},    {"-", ArithmeticOp::kSubtract}, {"*", ArithmeticOp::kMultiply},
      {"/", ArithmeticOp::kDivide}, {"%", ArithmeticOp::kModulo},   {"//", ArithmeticOp::kFloorDivide},
      {"**", ArithmeticOp::kPower},
  };
  if (current().type != TokenType::kOperator) return false;
  for (const auto& [text, value] : kOps) {
    if (current().text != text || ops.find(text) == std::string_view::npos) continue;
    Advance();
    *op = value;
    return true;
  }
  return false;
}

// The three levels of arithmetic share their shape: operands of the next level with operators between them.
Result<ExprPtr> Parser::ParseSum() {
  const int first_line = line();
  ADIT_ASSIGN_OR_RETURN(ExprPtr first, ParseConcat());
  ArithmeticOp op;
  if (!TakeArithmeticOp("+ -", &op)) return first;
  auto sum = std::make_unique<ArithmeticExpr>(first_line);
  Adopt(*sum, first);
  sum->first = std::move(first);
  do {
    ADIT_ASSIGN_OR_RETURN(ExprPtr operand, ParseConcat());
    Adopt(*sum, operand);
    sum->rest.emplace_back(op, std::move(operand));
  } while (TakeArithmeticOp("+ -", &op));
  return ExprPtr(std::move(sum));
}

Result<ExprPtr> Parser::ParseConcat() {
  const int first_line = line();
  ADIT_ASSIGN_OR_RETURN(ExprPtr first, ParseProduct());
  if (!current().IsOperator("~")) return first;
  auto concat = std::make_unique<ConcatExpr>(first_line);
  Adopt(*concat, first);
  concat->operands.push_back(std::move(first));
  while (SkipOperator("~")) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr operand, ParseProduct());
    Adopt(*concat, operand);
    concat->operands.push_back(std::move(operand));
  }
  return ExprPtr(std::move(concat));
}

Result<ExprPtr> Parser::ParseProduct() {
  const int first_line = line();
  ADIT_ASSIGN_OR_RETURN(ExprPtr first, ParsePower());
  ArithmeticOp op;
  if (!TakeArithmeticOp("* / // %", &op)) return first;
  auto product = std::make_unique<ArithmeticExpr>(first_line);
  Adopt(*product, first);
  product->first = std::move(first);
  do {
    ADIT_ASSIGN_OR_RETURN(ExprPtr operand, ParsePower());
    Adopt(*product, operand);
    product->rest.emplace_back(op, std::move(operand));
  } while (TakeArithmeticOp("* / // %", &op));
  return ExprPtr(std::move(product));
}

// Unlike in Python, from left to right, and a sign binds tighter.
Result<ExprPtr> Parser::ParsePower() {
  const int first_line = line();
  ADIT_ASSIGN_OR_RETURN(ExprPtr first, ParseUnary(true));
  if (!current().IsOperator("**")) return first;
  auto power = std::make_unique<ArithmeticExpr>(first_line);
  Adopt(*power, first);
  power->first = std::move(first);
  while (SkipOperator("**")) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr operand, ParseUnary(true));
    Adopt(*power, operand);
    power->rest.emplace_back(ArithmeticOp::kPower, std::move(operand));
  }
  return ExprPtr(std::move(power));
}

Result<ExprPtr> Parser::ParseUnary(bool with_filters) {
  ExprPtr expr;
  if (current().IsOperator("-") || current().IsOperator("+")) {
    const Nesting nesting(&depth_);
    ADIT_RETURN_IF_ERROR(CheckDepth());
    auto unary = std::make_unique<UnaryExpr>(line());
    unary->op = current().IsOperator("-") ? UnaryOp::kNegate : UnaryOp::kPlus;
    Advance();
    ADIT_ASSIGN_OR_RETURN(unary->operand, ParseUnary(false));
    Adopt(*unary, unary->operand);
    expr = std::move(unary);
  } else {
    ADIT_ASSIGN_OR_RETURN(expr, ParsePrimary());
  }
  ADIT_ASSIGN_OR_RETURN(expr, ParsePostfix(std::move(expr)));
  if (!with_filters) return expr;
  return ParseFiltersAndTests(std::move(expr));
}

Result<ExprPtr> Parser::ParsePrimary() {
  const Token& token = current();
  switch (token.type) {
    case TokenType::kName:
      return ParseNameOrConstant();
    case TokenType::kString:
      return ParseString();
    case TokenType::kInteger:
      Advance();
      if (!token.text.empty()) return NewConst(token.line, Value::BigInt(NewText(token.text)));
      return NewConst(token.line, Value::Int(token.integer));
    case TokenType::kFloat:
      Advance();
      return NewConst(token.line, Value::Float(token.real));
    default:
      break;
  }
  if (SkipOperator("(")) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr expr, ParseTuple(true, {}, true));
    ADIT_RETURN_IF_ERROR(ExpectOperator(")"));
    return expr;
  }
  if (token.IsOperator("[")) return ParseList();
  if (token.IsOperator("{")) return ParseDict();
  return SyntaxError(token.line, fmt::format("expected an expression, got {}", DescribeToken(token)));
}

Result<ExprPtr> Parser::ParseNameOrConstant() {
  const Token& token = current();
  Advance();
  if (token.text == "true" || token.text == "True") return NewConst(token.line, Value::Bool(true));
  if (token.text == "false" || token.text == "False") return NewConst(token.line, Value::Bool(false));
  if (token.text == "none" || token.text == "None") return NewConst(token.line, Value::None());
  auto name = std::make_unique<NameExpr>(token.line);
  name->name = Intern(token.text);
  return ExprPtr(std::move(name));
}

// Strings that follow each other are one.
Result<ExprPtr> Parser::ParseString() {
  const int first_line = line();
  std::string text;
  while (current().type == TokenType::kString) {
    text += current().text;
    Advance();
  }
  return NewConst(first_line, NewText(text));
}

Result<ExprPtr> Parser::ParseList() {
  auto list = std::make_unique<SequenceExpr>(ExprKind::kList, line());
  ADIT_RETURN_IF_ERROR(ExpectOperator("["));
  while (!current().IsOperator("]")) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression());
    Adopt(*list, item);
    list->items.push_back(std::move(item));
    if (!SkipOperator(",")) break;
  }
  ADIT_RETURN_IF_ERROR(ExpectOperator("]"));
  return ExprPtr(std::move(list));
}

Result<ExprPtr> Parser::ParseDict() {
  auto dict = std::make_unique<DictExpr>(line());
  ADIT_RETURN_IF_ERROR(ExpectOperator("{"));
  while (!current().IsOperator("}")) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr key, ParseExpression());
    ADIT_RETURN_IF_ERROR(ExpectOperator(":"));
    ADIT_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
    Adopt(*dict, key);
    Adopt(*dict, value);
    dict->entries.emplace_back(std::move(key), std::move(value));
    if (!SkipOperator(",")) break;
  }
  ADIT_RETURN_IF_ERROR(ExpectOperator("}"));
  return ExprPtr(std::move(dict));
}

}  // namespace adit::chat
