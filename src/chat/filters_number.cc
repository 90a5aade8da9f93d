#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/number.h"
#include "chat/operators.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/undefined.h"

// Filters that make or change numbers.
namespace adit::chat {
namespace {

Result<Value> Abs(Evaluator&, const Value& self, const Args&) {
  if (self.is(Kind::kUndefined)) return UndefinedError(self);
  if (self.is(Kind::kFloat)) return Value::Float(std::fabs(self.real()));
  if (self.is_integral()) return self.integer() < 0 ? Negate(self) : Value::Int(self.integer());
  return InvalidArgument("bad operand type for abs(): '{}'", TypeName(self));
}

// float(value); empty where it raises TypeError or ValueError.
Result<std::optional<double>> ReadFloat(const Value& value) {
  if (value.is(Kind::kUndefined)) return UndefinedError(value);
  if (value.is(Kind::kFloat)) return std::optional(value.real());
  if (value.is_integral()) return std::optional(static_cast<double>(value.integer()));
  if (value.is(Kind::kBigInt)) return std::optional(std::strtod(std::string(value.str()->view()).c_str(), nullptr));
  if (value.is(Kind::kString)) return ParseFloat(value.str()->view());
  return std::optional<double>();
}

Result<Value> Float(Evaluator&, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const std::optional<double> number, ReadFloat(self));
  if (number) return Value::Float(*number);
  return args.has(0) ? args[0] : Value::Float(0);
}

Status TooLarge() { return InvalidArgument("filter 'int': the integer does not fit 64 bits"); }

// A float loses its fraction; one that is no integer at all gives the default, as text like "42.23" gives 42.
Result<Value> TruncatedOr(std::optional<double> number, const Value& fallback) {
  if (!number || !std::isfinite(*number)) return fallback;
  const std::optional<int64_t> whole = TruncateFloat(*number);
  if (!whole) return TooLarge();
  return Value::Int(*whole);
}

Result<Value> Int(Evaluator&, const Value& self, const Args& args) {
  const Value fallback = args.has(0) ? args[0] : Value::Int(0);
  if (self.is(Kind::kUndefined)) return UndefinedError(self);
  if (self.is_integral()) return Value::Int(self.integer());
  if (self.is(Kind::kBigInt)) return self;
  if (self.is(Kind::kString)) {
    ADIT_ASSIGN_OR_RETURN(const int64_t base, IntArg(args, 1, 10, "base"));
    if (base == 0 || (base >= 2 && base <= 36)) {
      bool overflow = false;
      const std::optional<int64_t> number = ParseInt(self.str()->view(), static_cast<int>(base), &overflow);
      if (number) return Value::Int(*number);
      if (overflow) return TooLarge();
    }
  }
  if (self.is(Kind::kFloat) && std::isinf(self.real())) {
    return InvalidArgument("cannot convert float infinity to integer");
  }
  ADIT_ASSIGN_OR_RETURN(const std::optional<double> number, ReadFloat(self));
  return TruncatedOr(number, fallback);
}

// round() of an integer: itself, or for negative digits to tens and so on, ties to even.
Result<Value> RoundInt(int64_t value, int64_t digits) {
  if (digits >= 0) return Value::Int(value);
  if (digits < -18) return Value::Int(0);
  const int64_t unit = PowerInt(10, -digits).value_or(1);
  const int64_t below = value - ModuloInt(value, unit);
  const int64_t rest = value - below;
  const bool up = rest > unit - rest || (rest == unit - rest && ModuloInt(below / unit, 2) == 1);
  const std::optional<int64_t> rounded = AddInt(below, up ? unit : 0);
  if (!rounded) return InvalidArgument("an integer result does not fit 64 bits");
  return Value::Int(*rounded);
}

Result<Value> Round(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t digits, IntArg(args, 0, 0, "precision"));
  ADIT_ASSIGN_OR_RETURN(const Str* method, StrArg(args, 1, "method"));
  const std::string_view name = method == nullptr ? "common" : method->view();
  if (name != "common" && name != "ceil" && name != "floor") {
    return InvalidArgument("filter 'round': method must be common, ceil or floor, not {}", Quote(name));
  }
  if (self.is(Kind::kUndefined)) return UndefinedError(self);
  if (!self.is_integral() && !self.is(Kind::kFloat)) {
    return InvalidArgument("filter 'round' takes a number, not '{}'", TypeName(self));
  }
  if (name == "common") {
    if (self.is_integral()) return RoundInt(self.integer(), digits);
    return Value::Float(RoundFloat(self.real(), digits));
  }
  ADIT_ASSIGN_OR_RETURN(const Value unit,
                        Arithmetic(ArithmeticOp::kPower, Value::Int(10), Value::Int(digits), eval.heap()));
  ADIT_ASSIGN_OR_RETURN(const Value scaled, Arithmetic(ArithmeticOp::kMultiply, self, unit, eval.heap()));
  Value whole = scaled;
  if (scaled.is(Kind::kFloat)) {
    const double rounded = name == "ceil" ? std::ceil(scaled.real()) : std::floor(scaled.real());
    const std::optional<int64_t> integer = TruncateFloat(rounded);
    if (!integer) return InvalidArgument("filter 'round': the number does not fit 64 bits");
    whole = Value::Int(*integer);
  }
  return Arithmetic(ArithmeticOp::kDivide, whole, unit, eval.heap());
}

Result<Value> FileSizeFormat(Evaluator& eval, const Value& self, const Args& args) {
  constexpr std::array<const char*, 8> kDecimal = {"kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"};
  constexpr std::array<const char*, 8> kBinary = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"};
  ADIT_ASSIGN_OR_RETURN(const std::optional<double> bytes, ReadFloat(self));
  if (!bytes) return InvalidArgument("filter 'filesizeformat' takes a number, not '{}'", TypeName(self));
  const bool binary = BoolArg(args, 0, false);
  const double base = binary ? 1024 : 1000;
  const auto made = [&](const std::string& text) { return Value(NewStr(eval.heap(), text, false)); };
  if (*bytes == 1) return made("1 Byte");
  if (std::isnan(*bytes)) return InvalidArgument("filter 'filesizeformat' takes a number, not nan");
  if (*bytes < base) return made(fmt::format("{:.0f} Bytes", std::trunc(*bytes)));
  double unit = base;
  for (size_t i = 0; i < kDecimal.size(); ++i) {
    unit *= base;
    const bool last = i + 1 == kDecimal.size();
    if (*bytes < unit || last)
      return made(fmt::format("{:.1f} {}", base * *bytes / unit, (binary ? kBinary : kDecimal)[i]));
  }
  return Value();
}

constexpr Builtin kNumberFilters[] = {
    {"abs", "", 0, Abs},
    {"float", "default", 0, Float},
    {"int", "default,base", 0, Int},
    {"round", "precision,method", 0, Round},
    {"filesizeformat", "binary", 0, FileSizeFormat},
};

}  // namespace

std::span<const Builtin> NumberFilters() { return kNumberFilters; }

}  // namespace adit::chat
