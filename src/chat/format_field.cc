#include "chat/format_field.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/evaluator.h"
#include "chat/format_spec.h"
#include "chat/number.h"
#include "chat/operators.h"
#include "chat/to_text.h"

namespace adit::chat {
namespace {

// A field may stand in the format of a field, and one in its format in turn.
constexpr int kFieldLevels = 2;

class FieldFormatter {
 public:
  FieldFormatter(Evaluator& eval, const CallArgs& args, bool by_name, bool markup)
      : eval_(eval), args_(args), by_name_(by_name), markup_(markup) {}

  Status Run(const Str& format, int levels_left, StringBuilder& out);

 private:
  Status Field(const Str& format, size_t begin, size_t end, int levels_left, StringBuilder& out);
  Result<Value> Lookup(const Str& format, size_t begin, size_t end);
  Result<Value> FirstValue(std::string_view name);
  Result<Value> Positional(std::optional<int64_t> index);
  Result<Value> Step(const Value& object, const Str& format, size_t* pos, size_t end);
  Result<Value> Convert(const Value& value, std::string_view conversion);
  Status Append(const Value& value, const Str& spec_text, bool untrusted, StringBuilder& out);
  Status AppendByType(const Value& value, const FormatSpec& spec, bool untrusted, StringBuilder& out);

  Evaluator& eval_;
  const CallArgs& args_;
  const bool by_name_;
  const bool markup_;
  size_t next_index_ = 0;
  bool numbered_ = false;   // {0} was used
  bool automatic_ = false;  // {} was used
};

Status FieldFormatter::Run(const Str& format, int levels_left, StringBuilder& out) {
  if (levels_left < 0) return InvalidArgument("Max string recursion exceeded");
  const std::string_view text = format.view();
  size_t pos = 0;
  while (pos < text.size()) {
    const size_t brace = std::min(text.find_first_of("{}", pos), text.size());
    out.Append(format, pos, brace);
    if (brace == text.size()) break;
    const bool doubled = brace + 1 < text.size() && text[brace + 1] == text[brace];
    if (doubled) {
      out.Append(format, brace, brace + 1);
      pos = brace + 2;
      continue;
    }
    if (text[brace] == '}') return InvalidArgument("Single '}}' encountered in format string");
    int depth = 1;
    size_t end = brace + 1;
    for (; end < text.size(); ++end) {
      if (text[end] == '{') ++depth;
      if (text[end] == '}' && --depth == 0) break;
    }
    if (end >= text.size()) {
      if (brace + 1 == text.size()) return InvalidArgument("Single '{{' encountered in format string");
      return InvalidArgument("expected '}}' before end of string");
    }
    ADIT_RETURN_IF_ERROR(Field(format, brace + 1, end, levels_left, out));
    if (!eval_.heap().Spend(1)) return eval_.heap().status();
    pos = end + 1;
  }
  return Status();
}

// One field, without its braces: the name up to ! or :, which brackets may hold too.
Status FieldFormatter::Field(const Str& format, size_t begin, size_t end, int levels_left, StringBuilder& out) {
  const std::string_view text = format.view();
  size_t name_end = begin;
  bool in_brackets = false;
  for (; name_end < end; ++name_end) {
    const char c = text[name_end];
    if (c == '[') in_brackets = true;
    if (c == ']') in_brackets = false;
    if (!in_brackets && (c == '!' || c == ':')) break;
  }
  ADIT_ASSIGN_OR_RETURN(Value value, Lookup(format, begin, name_end));
  size_t spec_begin = name_end;
  if (spec_begin < end && text[spec_begin] == '!') {
    const size_t conversion_end = std::min(text.find(':', spec_begin), end);
    ADIT_ASSIGN_OR_RETURN(value, Convert(value, text.substr(spec_begin + 1, conversion_end - spec_begin - 1)));
    spec_begin = conversion_end;
  }
  spec_begin = std::min(spec_begin + 1, end);
  StringBuilder spec(eval_.heap());
  ADIT_RETURN_IF_ERROR(Run(Sub(format, spec_begin, end), levels_left - 1, spec));
  return Append(value, *spec.Finish(), Sub(format, begin - 1, begin).untrusted, out);
}

Result<Value> FieldFormatter::Positional(std::optional<int64_t> index) {
  (index ? numbered_ : automatic_) = true;
  if (numbered_ && automatic_) {
    return InvalidArgument("cannot mix manual field specification with automatic field numbering");
  }
  const size_t place = index ? static_cast<size_t>(*index) : next_index_++;
  if (by_name_ || place >= args_.positional.size()) {
    return InvalidArgument("Replacement index {} out of range for positional args tuple", place);
  }
  return args_.positional[place];
}

Result<Value> FieldFormatter::FirstValue(std::string_view name) {
  if (name.empty()) return Positional(std::nullopt);
  if (std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) {
    bool overflow = false;
    const std::optional<int64_t> index = ParseInt(name, 10, &overflow);
    if (!index) return InvalidArgument("Too many decimal digits in format string");
    return Positional(index);
  }
  for (const KeywordArg& keyword : args_.keywords) {
    if (keyword.name->view() == name) return keyword.value;
  }
  return InvalidArgument("format: no argument named {}", Quote(name));
}

Result<Value> FieldFormatter::Lookup(const Str& format, size_t begin, size_t end) {
  const std::string_view name = format.view().substr(begin, end - begin);
  size_t pos = begin + std::min(name.find_first_of(".["), name.size());
  ADIT_ASSIGN_OR_RETURN(Value value, FirstValue(format.view().substr(begin, pos - begin)));
  while (pos < end) {
    ADIT_ASSIGN_OR_RETURN(value, Step(value, format, &pos, end));
  }
  return value;
}

// One .name or [key] of a field's name.
Result<Value> FieldFormatter::Step(const Value& object, const Str& format, size_t* pos, size_t end) {
  const std::string_view text = format.view().substr(0, end);
  Heap& heap = eval_.heap();
  if (text[*pos] == '.') {
    const size_t begin = *pos + 1;
    *pos = std::min(text.find_first_of(".[", begin), end);
    if (*pos == begin) return InvalidArgument("Empty attribute in format string");
    return eval_.GetAttr(object, *NewSub(heap, format, begin, *pos));
  }
  if (text[*pos] != '[') return InvalidArgument("Only '.' or '[' may follow ']' in format field specifier");
  const size_t begin = *pos + 1;
  const size_t close = text.find(']', begin);
  if (close == std::string_view::npos) return InvalidArgument("Missing ']' in format string");
  if (close == begin) return InvalidArgument("Empty attribute in format string");
  *pos = close + 1;
  const std::string_view key = text.substr(begin, close - begin);
  const bool is_number = std::ranges::all_of(key, [](char c) { return c >= '0' && c <= '9'; });
  bool overflow = false;
  const std::optional<int64_t> index = is_number ? ParseInt(key, 10, &overflow) : std::nullopt;
  return eval_.GetItem(object, index ? Value::Int(*index) : Value(NewSub(heap, format, begin, close)));
}

Result<Value> FieldFormatter::Convert(const Value& value, std::string_view conversion) {
  if (conversion != "r" && conversion != "s" && conversion != "a") {
    return InvalidArgument("Unknown conversion specifier {}", conversion);
  }
  if (conversion == "s") {
    ADIT_ASSIGN_OR_RETURN(const Str* text, ToText(value, eval_.heap()));
    return Value(text);
  }
  ADIT_ASSIGN_OR_RETURN(const Str* text, ToRepr(value, eval_.heap()));
  if (conversion == "a" && value.is(Kind::kString)) {
    text = NewStr(eval_.heap(), Quote(value.str()->view(), true), text->untrusted);
  }
  return Value(text);
}

Status FieldFormatter::Append(const Value& value, const Str& spec_text, bool untrusted, StringBuilder& out) {
  untrusted = untrusted || AnyUntrusted(spec_text);
  Heap& heap = eval_.heap();
  StringBuilder plain(heap);
  StringBuilder& target = markup_ ? plain : out;
  if (spec_text.size == 0) {
    ADIT_RETURN_IF_ERROR(AppendText(value, target, heap));
  } else {
    ADIT_ASSIGN_OR_RETURN(const FormatSpec spec, ParseFormatSpec(spec_text.view()));
    ADIT_RETURN_IF_ERROR(AppendByType(value, spec, untrusted, target));
  }
  if (markup_) {
    Str* text = CloneStr(heap, *plain.Finish());
    text->markup = value.is(Kind::kString) && value.str()->markup;
    out.Append(*EscapeHtml(*text, heap));
  }
  return Status();
}

Status FieldFormatter::AppendByType(const Value& value, const FormatSpec& spec, bool untrusted, StringBuilder& out) {
  constexpr std::string_view kIntTypes = "bcdoxXn";
  constexpr std::string_view kFloatTypes = "eEfFgGn%";
  const auto unknown = [&] {
    return InvalidArgument("Unknown format code '{}' for object of type '{}'", spec.type, TypeName(value));
  };
  if (value.is(Kind::kString)) {
    if (spec.type != '\0' && spec.type != 's') return unknown();
    if (spec.align == '=') return InvalidArgument("'=' alignment not allowed in string format specifier");
    return AppendPadded(*value.str(), spec, untrusted, out, eval_.heap());
  }
  if (!value.is_number()) {
    return InvalidArgument("unsupported format string passed to {}.__format__", TypeName(value));
  }
  const bool as_float = spec.type != '\0' && spec.type != 'n' && kFloatTypes.find(spec.type) != std::string_view::npos;
  if (value.is(Kind::kFloat) || (as_float && value.is_integral())) {
    if (spec.type != '\0' && kFloatTypes.find(spec.type) == std::string_view::npos) return unknown();
    const Value number = value.is(Kind::kFloat) ? value : Value::Float(static_cast<double>(value.integer()));
    return AppendNumber(number, spec, untrusted, out, eval_.heap());
  }
  if (spec.type != '\0' && kIntTypes.find(spec.type) == std::string_view::npos) return unknown();
  if (spec.precision >= 0) return InvalidArgument("Precision not allowed in integer format specifier");
  if (spec.type != 'c') return AppendNumber(value, spec, untrusted, out, eval_.heap());
  std::string encoded;
  const int64_t code = value.is_integral() ? value.integer() : -1;
  if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
    return InvalidArgument("%c arg not in range(0x110000)");
  }
  AppendUtf8(static_cast<char32_t>(code), encoded);
  return AppendPadded(*NewStr(eval_.heap(), encoded, false), spec, untrusted, out, eval_.heap());
}

}  // namespace

Result<Value> FormatFields(Evaluator& eval, const Str& format, const CallArgs& args, bool by_name) {
  StringBuilder out(eval.heap());
  FieldFormatter formatter(eval, args, by_name, format.markup);
  ADIT_RETURN_IF_ERROR(formatter.Run(format, kFieldLevels, out));
  Str* result = CloneStr(eval.heap(), *out.Finish());
  result->markup = format.markup;
  return Value(result);
}

}  // namespace adit::chat
