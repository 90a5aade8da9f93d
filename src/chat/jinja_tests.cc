#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/builtin_args.h"
#include "chat/compare.h"
#include "chat/container.h"
#include "chat/operators.h"
#include "chat/text.h"
#include "chat/unicode.h"

// What may follow `is`.
namespace adit::chat {
namespace {

bool IsDefined(const Value& value) { return !value.is(Kind::kUndefined); }
bool IsUndefined(const Value& value) { return value.is(Kind::kUndefined); }
bool IsNone(const Value& value) { return value.is(Kind::kNone); }
bool IsBoolean(const Value& value) { return value.is(Kind::kBool); }
bool IsTrueLiteral(const Value& value) { return value.is(Kind::kBool) && value.boolean(); }
bool IsFalseLiteral(const Value& value) { return value.is(Kind::kBool) && !value.boolean(); }
bool IsInteger(const Value& value) { return value.is(Kind::kInt) || value.is(Kind::kBigInt); }
bool IsFloat(const Value& value) { return value.is(Kind::kFloat); }
bool IsNumber(const Value& value) { return value.is_number(); }
bool IsString(const Value& value) { return value.is(Kind::kString); }
bool IsMapping(const Value& value) { return value.is(Kind::kDict); }
bool IsEscaped(const Value& value) { return value.is(Kind::kString) && value.str()->markup; }

bool IsIterable(const Value& value) {
  return value.is(Kind::kUndefined) || value.is(Kind::kString) || value.is(Kind::kDict) || value.is(Kind::kSequence) ||
         value.is(Kind::kLoop);
}

// Has a length and takes an index; an undefined value does by its type.
bool IsSequence(const Value& value) {
  if (value.is(Kind::kSequence)) return value.sequence()->is_subscriptable();
  return value.is(Kind::kString) || value.is(Kind::kDict) || value.is(Kind::kUndefined);
}

bool IsCallable(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:  // calling it is defined: it fails with its reason
    case Kind::kMacro:
    case Kind::kFunction:
    case Kind::kLoop:
    case Kind::kJoiner:
      return true;
    default:
      return false;
  }
}

template <bool (*kPredicate)(const Value&)>
Result<Value> Test(Evaluator&, const Value& self, const Args&) {
  return Value::Bool(kPredicate(self));
}

Result<Value> IsRemainder(Evaluator& eval, const Value& self, const Value& divisor, int64_t remainder) {
  ADIT_ASSIGN_OR_RETURN(const Value rest, Arithmetic(ArithmeticOp::kModulo, self, divisor, eval.heap()));
  ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(rest, Value::Int(remainder), eval.heap()));
  return Value::Bool(equal);
}

Result<Value> Odd(Evaluator& eval, const Value& self, const Args&) { return IsRemainder(eval, self, Value::Int(2), 1); }

Result<Value> Even(Evaluator& eval, const Value& self, const Args&) {
  return IsRemainder(eval, self, Value::Int(2), 0);
}

Result<Value> DivisibleBy(Evaluator& eval, const Value& self, const Args& args) {
  return IsRemainder(eval, self, args[0], 0);
}

// Whether all cased chars are of one case, and there is one.
Result<Value> IsOfCase(Evaluator& eval, const Value& self, bool (*wanted)(char32_t)) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  bool any = false;
  for (std::string_view rest = text->view(); !rest.empty();) {
    const Utf8Char c = DecodeUtf8(rest);
    rest.remove_prefix(c.length);
    if (!IsCased(c.code_point)) continue;
    if (!wanted(c.code_point)) return Value::Bool(false);
    any = true;
  }
  return Value::Bool(any);
}

Result<Value> LowerTest(Evaluator& eval, const Value& self, const Args&) { return IsOfCase(eval, self, IsLower); }

Result<Value> UpperTest(Evaluator& eval, const Value& self, const Args&) { return IsOfCase(eval, self, IsUpper); }

Result<Value> FilterTest(Evaluator&, const Value& self, const Args&) {
  return Value::Bool(self.is(Kind::kString) && FindFilter(self.str()->view()) != nullptr);
}

Result<Value> TestTest(Evaluator&, const Value& self, const Args&) {
  return Value::Bool(self.is(Kind::kString) && FindTest(self.str()->view()) != nullptr);
}

// Identity: of the object, or of a value that Python keeps one of.
Result<Value> SameAs(Evaluator&, const Value& self, const Args& args) {
  const Value& other = args[0];
  if (self.kind() != other.kind()) return Value::Bool(false);
  switch (self.kind()) {
    case Kind::kNone:
      return Value::Bool(true);
    case Kind::kBool:
    case Kind::kInt:
      return Value::Bool(self.integer() == other.integer());
    case Kind::kFloat:
      return Value::Bool(self.real() == other.real());
    default:
      return Value::Bool(self.object() == other.object());
  }
}

Result<Value> In(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const bool contained, Contains(args[0], self, eval.heap()));
  return Value::Bool(contained);
}

Result<Value> Eq(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(self, args[0], eval.heap()));
  return Value::Bool(equal);
}

Result<Value> Ne(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(self, args[0], eval.heap()));
  return Value::Bool(!equal);
}

Result<Value> Lt(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Order order, Compare(self, args[0], "<", eval.heap()));
  return Value::Bool(order == Order::kLess);
}

Result<Value> Le(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Order order, Compare(self, args[0], "<=", eval.heap()));
  return Value::Bool(order == Order::kLess || order == Order::kEqual);
}

Result<Value> Gt(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Order order, Compare(self, args[0], ">", eval.heap()));
  return Value::Bool(order == Order::kGreater);
}

Result<Value> Ge(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Order order, Compare(self, args[0], ">=", eval.heap()));
  return Value::Bool(order == Order::kGreater || order == Order::kEqual);
}

constexpr Builtin kTypeTests[] = {
    {"defined", "", 0, Test<IsDefined>},
    {"undefined", "", 0, Test<IsUndefined>},
    {"none", "", 0, Test<IsNone>},
    {"boolean", "", 0, Test<IsBoolean>},
    {"true", "", 0, Test<IsTrueLiteral>},
    {"false", "", 0, Test<IsFalseLiteral>},
    {"integer", "", 0, Test<IsInteger>},
    {"float", "", 0, Test<IsFloat>},
    {"number", "", 0, Test<IsNumber>},
    {"string", "", 0, Test<IsString>},
    {"mapping", "", 0, Test<IsMapping>},
    {"sequence", "", 0, Test<IsSequence>},
    {"iterable", "", 0, Test<IsIterable>},
    {"callable", "", 0, Test<IsCallable>},
    {"escaped", "", 0, Test<IsEscaped>},
    {"lower", "", 0, LowerTest},
    {"upper", "", 0, UpperTest},
    {"filter", "", 0, FilterTest},
    {"test", "", 0, TestTest},
};

constexpr Builtin kCompareTests[] = {
    {"odd", "", 0, Odd},
    {"even", "", 0, Even},
    {"divisibleby", "num", 1, DivisibleBy},
    {"sameas", "other", 1, SameAs},
    {"in", "seq", 1, In},
    {"==", "_", 1, Eq},
    {"eq", "_", 1, Eq},
    {"equalto", "_", 1, Eq},
    {"!=", "_", 1, Ne},
    {"ne", "_", 1, Ne},
    {">", "_", 1, Gt},
    {"gt", "_", 1, Gt},
    {"greaterthan", "_", 1, Gt},
    {">=", "_", 1, Ge},
    {"ge", "_", 1, Ge},
    {"<", "_", 1, Lt},
    {"lt", "_", 1, Lt},
    {"lessthan", "_", 1, Lt},
    {"<=", "_", 1, Le},
    {"le", "_", 1, Le},
};

}  // namespace

std::span<const Builtin> TypeTests() { return kTypeTests; }

std::span<const Builtin> CompareTests() { return kCompareTests; }

}  // namespace adit::chat
