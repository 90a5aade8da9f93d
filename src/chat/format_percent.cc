#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/container.h"
#include "chat/format_spec.h"
#include "chat/number.h"
#include "chat/operators.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/undefined.h"

namespace adit::chat {
namespace {

// Formats by the directives of C's printf as Python reads them: %(name)-5.2f.
class PercentFormatter {
 public:
  PercentFormatter(const Str& format, const Value& args, Heap& heap) : format_(format), heap_(heap), out_(heap) {
    const bool is_tuple = args.is(Kind::kSequence) && args.sequence()->is_tuple();
    if (is_tuple) {
      items_ = args.sequence()->span();
    } else {
      single_ = args;
      items_ = {&single_, 1};
    }
    // Anything with elements but a tuple or string may be read by name, and then need not be used up.
    takes_names_ = args.is(Kind::kDict) || args.is(Kind::kUndefined) || (args.is(Kind::kSequence) && !is_tuple);
  }

  Result<Value> Run();

 private:
  Status Directive();
  Status TakeName();
  void TakeFlags(FormatSpec* spec);
  Result<std::optional<int64_t>> TakeNumber();
  Result<Value> NextArg();
  Status AppendArg(FormatSpec spec, char type);
  Status AppendTextArg(const Value& arg, FormatSpec spec, char type);
  Status AppendCharArg(const Value& arg, const FormatSpec& spec);
  Status AppendNumberArg(const Value& arg, FormatSpec spec, char type);
  char At() const { return pos_ < format_.size ? format_.data[pos_] : '\0'; }
  // Trust of the directive, and so of what pads its value.
  bool untrusted() const { return Sub(format_, start_, start_ + 1).untrusted; }

  const Str& format_;
  Heap& heap_;
  StringBuilder out_;
  Value single_;
  std::span<const Value> items_;
  size_t next_item_ = 0;
  bool takes_names_ = false;
  const Value* named_ = nullptr;  // value of %(name), for the present directive
  size_t start_ = 0;              // of the directive
  size_t pos_ = 0;
};

Result<Value> PercentFormatter::Run() {
  while (pos_ < format_.size) {
    const size_t plain = pos_;
    const size_t percent = format_.view().find('%', pos_);
    pos_ = std::min(percent, format_.size);
    out_.Append(format_, plain, pos_);
    if (pos_ == format_.size) break;
    start_ = pos_++;
    ADIT_RETURN_IF_ERROR(Directive());
    if (heap_.exhausted()) return heap_.status();
  }
  if (!takes_names_ && next_item_ < items_.size()) {
    return InvalidArgument("not all arguments converted during string formatting");
  }
  Str* result = CloneStr(heap_, *out_.Finish());
  result->markup = format_.markup;
  return Value(result);
}

Status PercentFormatter::Directive() {
  named_ = nullptr;
  if (At() == '(') ADIT_RETURN_IF_ERROR(TakeName());
  FormatSpec spec;
  spec.align = '>';
  TakeFlags(&spec);
  ADIT_ASSIGN_OR_RETURN(const std::optional<int64_t> width, TakeNumber());
  spec.width = std::abs(width.value_or(0));
  if (width.value_or(0) < 0) spec.align = '<';
  if (At() == '.') {
    ++pos_;
    ADIT_ASSIGN_OR_RETURN(const std::optional<int64_t> precision, TakeNumber());
    spec.precision = std::max<int64_t>(precision.value_or(0), 0);
  }
  if (At() == 'h' || At() == 'l' || At() == 'L') ++pos_;
  if (pos_ >= format_.size) return InvalidArgument("incomplete format");
  const char type = format_.data[pos_++];
  if (type == '%') {
    out_.Append("%", untrusted());
    return Status();
  }
  return AppendArg(spec, type);
}

Status PercentFormatter::TakeName() {
  const size_t begin = ++pos_;
  int depth = 1;
  while (pos_ < format_.size && depth > 0) {
    if (format_.data[pos_] == '(') ++depth;
    if (format_.data[pos_] == ')') --depth;
    ++pos_;
  }
  if (depth > 0) return InvalidArgument("incomplete format key");
  const std::string_view name = format_.view().substr(begin, pos_ - 1 - begin);
  if (!single_.is(Kind::kDict)) return InvalidArgument("format requires a mapping");
  named_ = FindKey(*single_.dict(), name);
  if (named_ == nullptr) return InvalidArgument("format: the mapping has no key {}", Quote(name));
  return Status();
}

void PercentFormatter::TakeFlags(FormatSpec* spec) {
  while (true) {
    switch (At()) {
      case '-':
        spec->align = '<';
        break;
      case '+':
        spec->sign = '+';
        break;
      case ' ':
        if (spec->sign != '+') spec->sign = ' ';
        break;
      case '#':
        spec->alternate = true;
        break;
      case '0':
        spec->zero = true;
        break;
      default:
        return;
    }
    ++pos_;
  }
}

// A width or precision: digits, or * for one from the arguments.
Result<std::optional<int64_t>> PercentFormatter::TakeNumber() {
  if (At() == '*') {
    ++pos_;
    ADIT_ASSIGN_OR_RETURN(const Value arg, NextArg());
    if (!arg.is_integral()) return InvalidArgument("* wants int");
    if (arg.integer() > INT32_MAX || arg.integer() < -INT32_MAX) return InvalidArgument("width too big");
    return std::optional<int64_t>(arg.integer());
  }
  std::optional<int64_t> number;
  while (At() >= '0' && At() <= '9') {
    number = number.value_or(0) * 10 + (At() - '0');
    if (*number > INT32_MAX) return InvalidArgument("width too big");
    ++pos_;
  }
  return number;
}

Result<Value> PercentFormatter::NextArg() {
  if (named_ != nullptr) return *named_;
  if (next_item_ >= items_.size()) return InvalidArgument("not enough arguments for format string");
  return items_[next_item_++];
}

Status PercentFormatter::AppendArg(FormatSpec spec, char type) {
  ADIT_ASSIGN_OR_RETURN(const Value arg, NextArg());
  constexpr std::string_view kTextTypes = "sra";
  constexpr std::string_view kNumberTypes = "diuoxXeEfFgG";
  if (kTextTypes.find(type) != std::string_view::npos) return AppendTextArg(arg, spec, type);
  if (type == 'c') return AppendCharArg(arg, spec);
  if (kNumberTypes.find(type) != std::string_view::npos) return AppendNumberArg(arg, spec, type);
  const std::string_view shown = format_.view().substr(pos_ - 1);
  return InvalidArgument("unsupported format character '{}'", shown.substr(0, CharLength(shown.front())));
}

Status PercentFormatter::AppendTextArg(const Value& arg, FormatSpec spec, char type) {
  const Str* text = nullptr;
  if (type == 's') {
    ADIT_ASSIGN_OR_RETURN(text, ToText(arg, heap_));
  } else {
    ADIT_ASSIGN_OR_RETURN(text, ToRepr(arg, heap_));
    if (type == 'a' && arg.is(Kind::kString)) text = NewStr(heap_, Quote(arg.str()->view(), true), text->untrusted);
  }
  if (format_.markup) text = EscapeHtml(*text, heap_);
  return AppendPadded(*text, spec, untrusted(), out_, heap_);
}

Status PercentFormatter::AppendCharArg(const Value& arg, const FormatSpec& spec) {
  if (arg.is(Kind::kString) && CountChars(*arg.str()) == 1) {
    return AppendPadded(*arg.str(), spec, untrusted(), out_, heap_);
  }
  if (!arg.is_integral()) return InvalidArgument("%c requires int or char");
  const int64_t code = arg.integer();
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return InvalidArgument("%c arg not in range(0x110000)");
  }
  std::string encoded;
  AppendUtf8(static_cast<char32_t>(code), encoded);
  return AppendPadded(*NewStr(heap_, encoded, false), spec, untrusted(), out_, heap_);
}

Status PercentFormatter::AppendNumberArg(const Value& arg, FormatSpec spec, char type) {
  if (arg.is(Kind::kUndefined)) return UndefinedError(arg);
  const bool wants_float = type == 'e' || type == 'E' || type == 'f' || type == 'F' || type == 'g' || type == 'G';
  const bool wants_plain = type == 'd' || type == 'i' || type == 'u';
  if (!arg.is_number() || (arg.is(Kind::kBigInt) && !wants_plain)) {
    return InvalidArgument("%{} format: {} is required, not {}", type, wants_float ? "a number" : "a real number",
                           TypeName(arg));
  }
  Value number = arg;
  spec.type = wants_plain ? 'd' : type;
  if (spec.align == '<') {
    spec.zero = false;
  } else if (spec.zero) {
    spec.align = '=';
    spec.fill.assign(1, '0');
  }
  if (wants_float && !arg.is(Kind::kFloat)) number = Value::Float(static_cast<double>(arg.integer()));
  if (!wants_float && arg.is(Kind::kFloat)) {
    if (!wants_plain) return InvalidArgument("%{} format: an integer is required, not float", type);
    const std::optional<int64_t> whole = TruncateFloat(arg.real());
    if (!whole) return InvalidArgument("cannot convert float {} to integer", FloatRepr(arg.real()));
    number = Value::Int(*whole);
  }
  return AppendNumber(number, spec, untrusted(), out_, heap_);
}

}  // namespace

Result<Value> FormatPercent(const Str& format, const Value& args, Heap& heap) {
  return PercentFormatter(format, args, heap).Run();
}

}  // namespace adit::chat
