#include "base/error.h"
#include "chat/builtin.h"
#include "chat/parser_internal.h"
#include "chat/text.h"

namespace adit::chat {

Result<ExprPtr> Parser::ParsePostfix(ExprPtr expr) {
  while (true) {
    if (SkipOperator(".")) {
      ADIT_ASSIGN_OR_RETURN(expr, ParseDot(std::move(expr)));
    } else if (current().IsOperator("[")) {
      ADIT_ASSIGN_OR_RETURN(expr, ParseSubscript(std::move(expr)));
    } else if (current().IsOperator("(")) {
      ADIT_ASSIGN_OR_RETURN(expr, ParseCall(std::move(expr)));
    } else {
      return expr;
    }
    ADIT_RETURN_IF_ERROR(CheckHeight(*expr));
  }
}

Result<ExprPtr> Parser::ParseFiltersAndTests(ExprPtr expr) {
  while (true) {
    if (SkipOperator("|")) {
      ADIT_ASSIGN_OR_RETURN(expr, ParseFilter(std::move(expr)));
    } else if (current().IsName("is")) {
      ADIT_ASSIGN_OR_RETURN(expr, ParseTest(std::move(expr)));
    } else if (current().IsOperator("(")) {
      ADIT_ASSIGN_OR_RETURN(expr, ParseCall(std::move(expr)));
    } else {
      return expr;
    }
    ADIT_RETURN_IF_ERROR(CheckHeight(*expr));
  }
}

Result<ExprPtr> Parser::ParseDot(ExprPtr object) {
  const int first_line = line();
  if (current().type == TokenType::kInteger) {
    auto getitem = std::make_unique<GetitemExpr>(first_line);
    Adopt(*getitem, object);
    getitem->object = std::move(object);
    getitem->index = NewConst(first_line, Value::Int(current().integer));
    Advance();
    return ExprPtr(std::move(getitem));
  }
  auto getattr = std::make_unique<GetattrExpr>(first_line);
  ADIT_ASSIGN_OR_RETURN(getattr->name, ExpectName());
  Adopt(*getattr, object);
  getattr->object = std::move(object);
  return ExprPtr(std::move(getattr));
}

Result<ExprPtr> Parser::ParseSubscript(ExprPtr object) {
  const int first_line = line();
  ADIT_RETURN_IF_ERROR(ExpectOperator("["));
  if (current().IsOperator(":")) return ParseSlice(std::move(object), nullptr, first_line);
  auto tuple = std::make_unique<SequenceExpr>(ExprKind::kTuple, first_line);
  while (!current().IsOperator("]")) {
    ADIT_ASSIGN_OR_RETURN(ExprPtr item, ParseExpression());
    if (current().IsOperator(":")) {
      if (!tuple->items.empty()) return SyntaxError(line(), "a slice inside a tuple cannot be an index");
      return ParseSlice(std::move(object), std::move(item), first_line);
    }
    Adopt(*tuple, item);
    tuple->items.push_back(std::move(item));
    if (!SkipOperator(",")) break;
  }
  ADIT_RETURN_IF_ERROR(ExpectOperator("]"));
  auto getitem = std::make_unique<GetitemExpr>(first_line);
  ExprPtr index = tuple->items.size() == 1 ? std::move(tuple->items.front()) : std::move(tuple);
  Adopt(*getitem, object);
  Adopt(*getitem, index);
  getitem->object = std::move(object);
  getitem->index = std::move(index);
  return ExprPtr(std::move(getitem));
}

// The rest of a slice, from its first colon on.
Result<ExprPtr> Parser::ParseSlice(ExprPtr object, ExprPtr start, int line_of_slice) {
  auto slice = std::make_unique<SliceExpr>(line_of_slice);
  slice->object = std::move(object);
  slice->start = std::move(start);
  ADIT_RETURN_IF_ERROR(ExpectOperator(":"));
  if (!current().IsOperator(":") && !current().IsOperator("]")) {
    ADIT_ASSIGN_OR_RETURN(slice->stop, ParseExpression());
  }
  if (SkipOperator(":") && !current().IsOperator("]")) {
    ADIT_ASSIGN_OR_RETURN(slice->step, ParseExpression());
  }
  if (current().IsOperator(",")) return SyntaxError(line(), "a slice inside a tuple cannot be an index");
  ADIT_RETURN_IF_ERROR(ExpectOperator("]"));
  for (const ExprPtr* part : {&slice->object, &slice->start, &slice->stop, &slice->step}) Adopt(*slice, *part);
  return ExprPtr(std::move(slice));
}

Result<ExprPtr> Parser::ParseCall(ExprPtr callee) {
  auto call = std::make_unique<CallExpr>(line());
  Adopt(*call, callee);
  call->callee = std::move(callee);
  ADIT_ASSIGN_OR_RETURN(call->args, ParseCallArgs());
  Adopt(*call, call->args);
  return ExprPtr(std::move(call));
}

Result<CallArgsExpr> Parser::ParseCallArgs() {
  ADIT_RETURN_IF_ERROR(ExpectOperator("("));
  CallArgsExpr args;
  while (!current().IsOperator(")")) {
    ADIT_RETURN_IF_ERROR(ParseCallArg(&args));
    if (!SkipOperator(",")) break;
  }
  ADIT_RETURN_IF_ERROR(ExpectOperator(")"));
  return args;
}

Status Parser::ParseCallArg(CallArgsExpr* args) {
  const int first_line = line();
  bool in_order = true;
  if (SkipOperator("*")) {
    in_order = args->star == nullptr && args->double_star == nullptr;
    ADIT_ASSIGN_OR_RETURN(args->star, ParseExpression());
  } else if (SkipOperator("**")) {
    in_order = args->double_star == nullptr;
    ADIT_ASSIGN_OR_RETURN(args->double_star, ParseExpression());
  } else if (current().type == TokenType::kName && next().IsOperator("=")) {
    in_order = args->double_star == nullptr;
    ADIT_ASSIGN_OR_RETURN(const Str* name, ExpectName());
    Advance();
    for (const auto& [other, value] : args->keywords) {
      if (other->view() == name->view()) {
        return SyntaxError(first_line, fmt::format("keyword argument '{}' is repeated", name->view()));
      }
    }
    ADIT_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
    args->keywords.emplace_back(name, std::move(value));
  } else {
    in_order = args->star == nullptr && args->double_star == nullptr && args->keywords.empty();
    ADIT_ASSIGN_OR_RETURN(ExprPtr value, ParseExpression());
    args->positional.push_back(std::move(value));
  }
  if (in_order) return Status();
  return SyntaxError(first_line, "arguments out of order: positional, keyword, then *args and **kwargs once each");
}

Result<const Str*> Parser::ParseDottedName() {
  ADIT_ASSIGN_OR_RETURN(const Str* name, ExpectName());
  while (SkipOperator(".")) {
    ADIT_ASSIGN_OR_RETURN(const Str* part, ExpectName());
    name = NewText(fmt::format("{}.{}", name->view(), part->view()));
  }
  return name;
}

Result<ExprPtr> Parser::ParseFilter(ExprPtr input) {
  auto filter = std::make_unique<BuiltinExpr>(ExprKind::kFilter, line());
  Adopt(*filter, input);
  filter->input = std::move(input);
  ADIT_ASSIGN_OR_RETURN(filter->name, ParseDottedName());
  filter->builtin = FindFilter(filter->name->view());
  if (current().IsOperator("(")) {
    ADIT_ASSIGN_OR_RETURN(filter->args, ParseCallArgs());
    Adopt(*filter, filter->args);
  }
  return ExprPtr(std::move(filter));
}

Result<ExprPtr> Parser::ParseTest(ExprPtr input) {
  const int first_line = line();
  Advance();
  const bool negated = SkipName("not");
  auto test = std::make_unique<BuiltinExpr>(ExprKind::kTest, first_line);
  Adopt(*test, input);
  test->input = std::move(input);
  ADIT_ASSIGN_OR_RETURN(test->name, ParseDottedName());
  test->builtin = FindTest(test->name->view());
  const TokenType type = current().type;
  const bool is_word = type == TokenType::kName && !AtName({"else", "or", "and"});
  const bool is_literal = type == TokenType::kString || type == TokenType::kInteger || type == TokenType::kFloat ||
                          current().IsOperator("[") || current().IsOperator("{");
  if (current().IsOperator("(")) {
    ADIT_ASSIGN_OR_RETURN(test->args, ParseCallArgs());
  } else if (is_word || is_literal) {
    if (current().IsName("is")) return SyntaxError(line(), "tests cannot be chained with 'is'");
    ADIT_ASSIGN_OR_RETURN(ExprPtr arg, ParsePrimary());
    ADIT_ASSIGN_OR_RETURN(arg, ParsePostfix(std::move(arg)));
    test->args.positional.push_back(std::move(arg));
  }
  Adopt(*test, test->args);
  if (!negated) return ExprPtr(std::move(test));
  auto negation = std::make_unique<UnaryExpr>(first_line);
  negation->op = UnaryOp::kNot;
  negation->operand = std::move(test);
  Adopt(*negation, negation->operand);
  return ExprPtr(std::move(negation));
}

}  // namespace adit::chat
