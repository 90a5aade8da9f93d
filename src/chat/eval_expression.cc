#include <array>

#include "base/error.h"
#include "chat/compare.h"
#include "chat/evaluator.h"
#include "chat/operators.h"
#include "chat/to_text.h"
#include "chat/undefined.h"

namespace adit::chat {
namespace {

// Levels of evaluation inside each other, for each level of calls that the options allow.
constexpr int kEvalLevelsPerCall = 5;

Result<bool> CompareValues(CompareOp op, const Value& left, const Value& right, Heap& heap) {
  switch (op) {
    case CompareOp::kEqual:
      return Equal(left, right, heap);
    case CompareOp::kNotEqual: {
      ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(left, right, heap));
      return !equal;
    }
    case CompareOp::kIn:
      return Contains(right, left, heap);
    case CompareOp::kNotIn: {
      ADIT_ASSIGN_OR_RETURN(const bool contained, Contains(right, left, heap));
      return !contained;
    }
    case CompareOp::kLess: {
      ADIT_ASSIGN_OR_RETURN(const Order order, Compare(left, right, "<", heap));
      return order == Order::kLess;
    }
    case CompareOp::kLessEqual: {
      ADIT_ASSIGN_OR_RETURN(const Order order, Compare(left, right, "<=", heap));
      return order == Order::kLess || order == Order::kEqual;
    }
    case CompareOp::kGreater: {
      ADIT_ASSIGN_OR_RETURN(const Order order, Compare(left, right, ">", heap));
      return order == Order::kGreater;
    }
    case CompareOp::kGreaterEqual: {
      ADIT_ASSIGN_OR_RETURN(const Order order, Compare(left, right, ">=", heap));
      return order == Order::kGreater || order == Order::kEqual;
    }
  }
  return false;
}

}  // namespace

Result<Value> Evaluator::Eval(const Expr& expr) {
  if (expr.kind == ExprKind::kConst) return static_cast<const ConstExpr&>(expr).value;
  if (expr.kind == ExprKind::kName) return Read(static_cast<const NameExpr&>(expr).name);
  if (!heap_.Spend(1)) return heap_.status();
  if (eval_depth_ >= kEvalLevelsPerCall * options_.max_depth) {
    return ResourceExhausted("evaluation nested deeper than {} levels", kEvalLevelsPerCall * options_.max_depth);
  }
  ++eval_depth_;
  line_ = expr.line;
  Result<Value> result = EvalKind(expr);
  --eval_depth_;
  return result;
}

Result<Value> Evaluator::EvalKind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kConst:
    case ExprKind::kName:
      break;
    case ExprKind::kList:
    case ExprKind::kTuple:
      return EvalSequence(static_cast<const SequenceExpr&>(expr));
    case ExprKind::kDict:
      return EvalDict(static_cast<const DictExpr&>(expr));
    case ExprKind::kUnary:
      return EvalUnary(static_cast<const UnaryExpr&>(expr));
    case ExprKind::kArithmetic:
      return EvalArithmetic(static_cast<const ArithmeticExpr&>(expr));
    case ExprKind::kLogic:
      return EvalLogic(static_cast<const LogicExpr&>(expr));
    case ExprKind::kCompare:
      return EvalCompare(static_cast<const CompareExpr&>(expr));
    case ExprKind::kConcat:
      return EvalConcat(static_cast<const ConcatExpr&>(expr));
    case ExprKind::kConditional:
      return EvalConditional(static_cast<const ConditionalExpr&>(expr));
    case ExprKind::kGetattr:
      return EvalGetattr(static_cast<const GetattrExpr&>(expr));
    case ExprKind::kGetitem:
      return EvalGetitem(static_cast<const GetitemExpr&>(expr));
    case ExprKind::kSlice:
      return EvalSlice(static_cast<const SliceExpr&>(expr));
    case ExprKind::kCall:
      return EvalCall(static_cast<const CallExpr&>(expr), Value());
    case ExprKind::kFilter:
    case ExprKind::kTest:
      return EvalBuiltin(static_cast<const BuiltinExpr&>(expr), Value());
  }
  return Value();
}

Result<Value> Evaluator::EvalSequence(const SequenceExpr& expr) {
  Value* items = heap_.NewArray<Value>(expr.items.size());
  for (size_t i = 0; i < expr.items.size(); ++i) {
    ADIT_ASSIGN_OR_RETURN(items[i], Eval(*expr.items[i]));
  }
  const SequenceType type = expr.kind == ExprKind::kList ? SequenceType::kList : SequenceType::kTuple;
  return Value(BorrowSequence(heap_, type, {items, expr.items.size()}));
}

Result<Value> Evaluator::EvalDict(const DictExpr& expr) {
  std::vector<DictEntry> entries;
  entries.reserve(expr.entries.size());
  for (const auto& [key_expr, value_expr] : expr.entries) {
    ADIT_ASSIGN_OR_RETURN(const Value key, Eval(*key_expr));
    ADIT_RETURN_IF_ERROR(CheckHashable(key));
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*value_expr));
    entries.push_back({key, value});
  }
  return Value(NewDict(heap_, entries));
}

Result<Value> Evaluator::EvalUnary(const UnaryExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(const Value operand, Eval(*expr.operand));
  if (expr.op == UnaryOp::kNot) return Value::Bool(!IsTrue(operand));
  return expr.op == UnaryOp::kNegate ? Negate(operand) : Plus(operand);
}

Result<Value> Evaluator::EvalArithmetic(const ArithmeticExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(Value left, Eval(*expr.first));
  for (const auto& [op, operand] : expr.rest) {
    ADIT_ASSIGN_OR_RETURN(const Value right, Eval(*operand));
    if (!heap_.Spend(1)) return heap_.status();
    ADIT_ASSIGN_OR_RETURN(left, Arithmetic(op, left, right, heap_));
  }
  return left;
}

// The operand that decides, as in Python.
Result<Value> Evaluator::EvalLogic(const LogicExpr& expr) {
  Value value;
  for (const ExprPtr& operand : expr.operands) {
    ADIT_ASSIGN_OR_RETURN(value, Eval(*operand));
    if (IsTrue(value) == expr.is_or) break;
  }
  return value;
}

Result<Value> Evaluator::EvalCompare(const CompareExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(Value left, Eval(*expr.first));
  for (const auto& [op, operand] : expr.rest) {
    ADIT_ASSIGN_OR_RETURN(const Value right, Eval(*operand));
    ADIT_ASSIGN_OR_RETURN(const bool holds, CompareValues(op, left, right, heap_));
    if (!holds) return Value::Bool(false);
    left = right;
  }
  return Value::Bool(true);
}

Result<Value> Evaluator::EvalConcat(const ConcatExpr& expr) {
  StringBuilder builder(heap_);
  for (const ExprPtr& operand : expr.operands) {
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*operand));
    ADIT_RETURN_IF_ERROR(AppendValue(value, builder));
  }
  return Value(builder.Finish());
}

Result<Value> Evaluator::EvalConditional(const ConditionalExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(const Value test, Eval(*expr.test));
  if (IsTrue(test)) return Eval(*expr.if_true);
  if (expr.if_false != nullptr) return Eval(*expr.if_false);
  return UndefinedBecause(heap_, "an inline if without else was false");
}

Result<Value> Evaluator::EvalGetattr(const GetattrExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(const Value object, Eval(*expr.object));
  return GetAttr(object, *expr.name);
}

Result<Value> Evaluator::EvalGetitem(const GetitemExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(const Value object, Eval(*expr.object));
  ADIT_ASSIGN_OR_RETURN(const Value index, Eval(*expr.index));
  return GetItem(object, index);
}

Result<Value> Evaluator::EvalOptional(const ExprPtr& expr) {
  if (expr == nullptr) return Value::None();
  return Eval(*expr);
}

Result<Value> Evaluator::EvalSlice(const SliceExpr& expr) {
  ADIT_ASSIGN_OR_RETURN(const Value object, Eval(*expr.object));
  ADIT_ASSIGN_OR_RETURN(const Value start, EvalOptional(expr.start));
  ADIT_ASSIGN_OR_RETURN(const Value stop, EvalOptional(expr.stop));
  ADIT_ASSIGN_OR_RETURN(const Value step, EvalOptional(expr.step));
  if (object.is(Kind::kUndefined)) return UndefinedError(object);
  return SliceOf(object, start, stop, step, heap_);
}

}  // namespace adit::chat
