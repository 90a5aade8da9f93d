#include "chat/operators.h"

#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "chat/container.h"
#include "chat/number.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/undefined.h"

namespace adit::chat {
namespace {

double ToFloat(const Value& value) {
  return value.is(Kind::kFloat) ? value.real() : static_cast<double>(value.integer());
}

Status Unsupported(ArithmeticOp op, const Value& left, const Value& right) {
  if (left.is(Kind::kUndefined)) return UndefinedError(left);
  if (right.is(Kind::kUndefined)) return UndefinedError(right);
  if (op == ArithmeticOp::kAdd && left.is(Kind::kString)) {
    return InvalidArgument("can only concatenate str (not \"{}\") to str", TypeName(right));
  }
  return InvalidArgument("unsupported operand type(s) for {}: '{}' and '{}'", OperatorSign(op), TypeName(left),
                         TypeName(right));
}

Result<Value> OrOverflow(std::optional<int64_t> value) {
  if (value) return Value::Int(*value);
  return InvalidArgument("an integer result does not fit 64 bits");
}

Result<Value> IntPower(int64_t base, int64_t exponent) {
  if (exponent >= 0) return OrOverflow(PowerInt(base, exponent));
  if (base == 0) return InvalidArgument("0.0 cannot be raised to a negative power");
  return Value::Float(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
}

Result<Value> IntArithmetic(ArithmeticOp op, int64_t left, int64_t right) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return OrOverflow(AddInt(left, right));
    case ArithmeticOp::kSubtract:
      return OrOverflow(SubtractInt(left, right));
    case ArithmeticOp::kMultiply:
      return OrOverflow(MultiplyInt(left, right));
    case ArithmeticOp::kPower:
      return IntPower(left, right);
    case ArithmeticOp::kDivide:
      if (right == 0) return InvalidArgument("division by zero");
      return Value::Float(static_cast<double>(left) / static_cast<double>(right));
    case ArithmeticOp::kFloorDivide:
      if (right == 0) return InvalidArgument("integer division or modulo by zero");
      return OrOverflow(FloorDivideInt(left, right));
    case ArithmeticOp::kModulo:
      if (right == 0) return InvalidArgument("integer modulo by zero");
      return Value::Int(ModuloInt(left, right));
  }
  return Value();
}

Result<Value> FloatPower(double base, double exponent) {
  if (base == 0 && exponent < 0) return InvalidArgument("0.0 cannot be raised to a negative power");
  if (base < 0 && std::isfinite(exponent) && exponent != std::trunc(exponent)) {
    return InvalidArgument("a negative number to a fractional power is complex");
  }
  const double power = std::pow(base, exponent);
  if (std::isinf(power) && std::isfinite(base) && std::isfinite(exponent)) {
    return InvalidArgument("the result of ** is too large");
  }
  return Value::Float(power);
}

Result<Value> FloatArithmetic(ArithmeticOp op, double left, double right) {
  const bool divides = op == ArithmeticOp::kDivide || op == ArithmeticOp::kFloorDivide || op == ArithmeticOp::kModulo;
  if (divides && right == 0) return InvalidArgument("float division by zero");
  switch (op) {
    case ArithmeticOp::kAdd:
      return Value::Float(left + right);
    case ArithmeticOp::kSubtract:
      return Value::Float(left - right);
    case ArithmeticOp::kMultiply:
      return Value::Float(left * right);
    case ArithmeticOp::kDivide:
      return Value::Float(left / right);
    case ArithmeticOp::kFloorDivide:
      return Value::Float(FloorDivideFloat(left, right));
    case ArithmeticOp::kModulo:
      return Value::Float(ModuloFloat(left, right));
    case ArithmeticOp::kPower:
      return FloatPower(left, right);
  }
  return Value();
}

Result<Value> RepeatString(const Str& str, int64_t times, Heap& heap) {
  StringBuilder builder(heap);
  const auto count = static_cast<size_t>(times > 0 ? times : 0);
  if (str.size != 0 && !heap.Reserve(count > SIZE_MAX / str.size ? SIZE_MAX : count * str.size)) return heap.status();
  if (str.size == 0) return Value(&str);
  for (size_t i = 0; i < count && !heap.exhausted(); ++i) builder.Append(str);
  Str* result = CloneStr(heap, *builder.Finish());
  result->markup = str.markup;
  return Value(result);
}

Result<Value> RepeatSequence(const Sequence& sequence, int64_t times, Heap& heap) {
  const auto count = static_cast<size_t>(times > 0 ? times : 0);
  const size_t item_bytes = sequence.size * sizeof(Value);
  if (item_bytes != 0 && !heap.Reserve(count > SIZE_MAX / item_bytes ? SIZE_MAX : count * item_bytes)) {
    return heap.status();
  }
  const size_t size = sequence.size * count;
  heap.Spend(static_cast<int64_t>(size / 16));
  Value* items = heap.NewArray<Value>(size);
  for (size_t i = 0; i < size; ++i) items[i] = sequence.items[i % sequence.size];
  const SequenceType type = sequence.is_tuple() ? SequenceType::kTuple : sequence.type;
  return Value(BorrowSequence(heap, type, {items, size}));
}

// Repetition of a text, list or tuple; kMissing if neither operand is one.
Result<Value> Repeat(const Value& object, const Value& times, Heap& heap) {
  if (!times.is_integral()) return Value();
  if (object.is(Kind::kString)) return RepeatString(*object.str(), times.integer(), heap);
  if (!object.is(Kind::kSequence)) return Value();
  const Sequence& sequence = *object.sequence();
  if (sequence.type != SequenceType::kList && !sequence.is_tuple()) return Value();
  return RepeatSequence(sequence, times.integer(), heap);
}

// left + right of two lists or two tuples; kMissing for others.
Value JoinSequences(const Value& left, const Value& right, Heap& heap) {
  if (!left.is(Kind::kSequence) || !right.is(Kind::kSequence)) return Value();
  const Sequence& a = *left.sequence();
  const Sequence& b = *right.sequence();
  const bool lists = a.type == SequenceType::kList && b.type == SequenceType::kList;
  if (!lists && !(a.is_tuple() && b.is_tuple())) return Value();
  heap.Spend(static_cast<int64_t>((a.size + b.size) / 16));
  Value* items = heap.NewArray<Value>(a.size + b.size);
  for (size_t i = 0; i < a.size; ++i) items[i] = a.items[i];
  for (size_t i = 0; i < b.size; ++i) items[a.size + i] = b.items[i];
  const SequenceType type = lists ? SequenceType::kList : SequenceType::kTuple;
  Sequence* joined = BorrowSequence(heap, type, {items, a.size + b.size});
  joined->untrusted = a.untrusted || b.untrusted;
  return joined;
}

// What an operator does to operands that are not both numbers; kMissing where it does nothing.
Result<Value> ObjectArithmetic(ArithmeticOp op, const Value& left, const Value& right, Heap& heap) {
  if (op == ArithmeticOp::kAdd) {
    if (left.is(Kind::kString) && right.is(Kind::kString)) return Value(AddStrings(*left.str(), *right.str(), heap));
    return JoinSequences(left, right, heap);
  }
  if (op == ArithmeticOp::kModulo && left.is(Kind::kString)) return FormatPercent(*left.str(), right, heap);
  if (op == ArithmeticOp::kMultiply) {
    ADIT_ASSIGN_OR_RETURN(const Value repeated, Repeat(left, right, heap));
    return repeated.is_missing() ? Repeat(right, left, heap) : repeated;
  }
  return Value();
}

}  // namespace

const char* OperatorSign(ArithmeticOp op) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return "+";
    case ArithmeticOp::kSubtract:
      return "-";
    case ArithmeticOp::kMultiply:
      return "*";
    case ArithmeticOp::kDivide:
      return "/";
    case ArithmeticOp::kFloorDivide:
      return "//";
    case ArithmeticOp::kModulo:
      return "%";
    case ArithmeticOp::kPower:
      return "**";
  }
  return "";
}

Result<Value> Arithmetic(ArithmeticOp op, const Value& left, const Value& right, Heap& heap) {
  if (left.is_number() && right.is_number()) {
    if (left.is(Kind::kBigInt) || right.is(Kind::kBigInt)) {
      return InvalidArgument("an integer beyond 64 bits cannot be computed with ({})", OperatorSign(op));
    }
    if (left.is_integral() && right.is_integral()) return IntArithmetic(op, left.integer(), right.integer());
    return FloatArithmetic(op, ToFloat(left), ToFloat(right));
  }
  ADIT_ASSIGN_OR_RETURN(const Value result, ObjectArithmetic(op, left, right, heap));
  if (result.is_missing()) return Unsupported(op, left, right);
  return result;
}

Result<Value> Negate(const Value& operand) {
  if (operand.is_integral()) return OrOverflow(SubtractInt(0, operand.integer()));
  if (operand.is(Kind::kFloat)) return Value::Float(-operand.real());
  if (operand.is(Kind::kUndefined)) return UndefinedError(operand);
  return InvalidArgument("bad operand type for unary -: '{}'", TypeName(operand));
}

Result<Value> Plus(const Value& operand) {
  if (operand.is_integral()) return Value::Int(operand.integer());
  if (operand.is_number()) return operand;
  if (operand.is(Kind::kUndefined)) return UndefinedError(operand);
  return InvalidArgument("bad operand type for unary +: '{}'", TypeName(operand));
}

const Str* AddStrings(const Str& left, const Str& right, Heap& heap) {
  if (!left.markup && !right.markup) return Concat(heap, left, right);
  Str* sum = CloneStr(heap, *Concat(heap, *EscapeHtml(left, heap), *EscapeHtml(right, heap)));
  sum->markup = true;
  return sum;
}

const Str* EscapeHtml(const Str& str, Heap& heap) {
  if (str.markup) return &str;
  StringBuilder builder(heap);
  size_t plain = 0;
  for (size_t i = 0; i < str.size; ++i) {
    const char c = str.data[i];
    const char* entity = c == '&'    ? "&amp;"
                         : c == '<'  ? "&lt;"
                         : c == '>'  ? "&gt;"
                         : c == '"'  ? "&#34;"
                         : c == '\'' ? "&#39;"
                                     : nullptr;
    if (entity == nullptr) continue;
    builder.Append(str, plain, i);
    builder.Append(entity, Sub(str, i, i + 1).untrusted);
    plain = i + 1;
  }
  builder.Append(str, plain, str.size);
  Str* escaped = CloneStr(heap, *builder.Finish());
  escaped->markup = true;
  return escaped;
}

}  // namespace adit::chat
