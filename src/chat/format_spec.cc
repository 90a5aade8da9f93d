#include "chat/format_spec.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/number.h"
#include "chat/to_text.h"

namespace adit::chat {
namespace {

// Python's own precision has no bound that matters; more decimals than a double has are zeros.
constexpr int64_t kMaxPrecision = 1'000'000;
constexpr int64_t kMaxWidth = INT32_MAX;

// Reads digits; -1 if there are none, an error past the limit.
Result<int64_t> TakeNumber(std::string_view* text, int64_t limit) {
  int64_t value = -1;
  while (!text->empty() && text->front() >= '0' && text->front() <= '9') {
    value = std::max<int64_t>(value, 0) * 10 + (text->front() - '0');
    if (value > limit) return InvalidArgument("Too many decimal digits in format string");
    text->remove_prefix(1);
  }
  return value;
}

bool IsAlign(char c) { return c == '<' || c == '>' || c == '^' || c == '='; }

void TakeAlign(std::string_view* text, FormatSpec* spec) {
  if (text->empty()) return;
  const size_t fill = DecodeUtf8(*text).length;
  if (text->size() > fill && IsAlign((*text)[fill])) {
    spec->fill = text->substr(0, fill);
    spec->align = (*text)[fill];
    text->remove_prefix(fill + 1);
  } else if (IsAlign(text->front())) {
    spec->align = text->front();
    text->remove_prefix(1);
  }
}

bool TakeChar(std::string_view* text, std::string_view chars, char* taken) {
  if (text->empty() || chars.find(text->front()) == std::string_view::npos) return false;
  *taken = text->front();
  text->remove_prefix(1);
  return true;
}

// A number in three parts, so that padding and grouping find their place.
struct NumberText {
  std::string sign;
  std::string prefix;  // 0x and the like
  std::string digits;  // before the decimal point
  std::string rest;    // from it on
};

std::string InBase(uint64_t magnitude, char type) {
  switch (type) {
    case 'x':
      return fmt::format("{:x}", magnitude);
    case 'X':
      return fmt::format("{:X}", magnitude);
    case 'o':
      return fmt::format("{:o}", magnitude);
    case 'b':
      return fmt::format("{:b}", magnitude);
    default:
      return std::to_string(magnitude);
  }
}

NumberText IntegerText(int64_t value, const FormatSpec& spec) {
  NumberText text;
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  text.sign.assign(value < 0 ? 1 : 0, '-');
  text.digits = InBase(magnitude, spec.type);
  const auto min_digits = static_cast<size_t>(std::max<int64_t>(spec.precision, 0));
  if (text.digits.size() < min_digits) text.digits.insert(0, min_digits - text.digits.size(), '0');
  const bool based = spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b';
  if (spec.alternate && based) text.prefix = {'0', spec.type};
  return text;
}

// Presentation g: `significant` digits without zeros at the end, as a decimal or, if it is too large or small for
// that, with an exponent. `with_fraction` asks for a decimal place at least, and for an exponent one digit earlier.
std::string GeneralDigits(double magnitude, int significant, bool alternate, bool with_fraction, bool upper) {
  const std::string scientific = fmt::format("{:.{}e}", magnitude, significant - 1);
  const size_t e = scientific.find('e');
  const int exponent = std::atoi(scientific.c_str() + e + 1);
  std::string digits = scientific.substr(0, e);
  std::erase(digits, '.');
  if (!alternate) digits.erase(std::max<size_t>(digits.find_last_not_of('0') + 1, 1));
  const bool use_exponent = exponent < -4 || exponent + 1 > significant - (with_fraction ? 1 : 0);
  const int point = use_exponent ? 1 : exponent + 1;
  if (point <= 0) digits.insert(0, static_cast<size_t>(1 - point), '0');
  const auto whole = static_cast<size_t>(std::max(point, 1));
  if (digits.size() < whole) digits.append(whole - digits.size(), '0');
  std::string text = digits.substr(0, whole);
  if (digits.size() > whole || alternate) text.append(1, '.').append(digits, whole);
  if (use_exponent)
    return text + fmt::format("{}{}{:02}", upper ? 'E' : 'e', exponent < 0 ? '-' : '+', std::abs(exponent));
  return with_fraction && digits.size() == whole ? text + ".0" : text;
}

// The digits of a finite value in a presentation of C: e, f or g, of either case.
std::string FloatDigits(double magnitude, char type, int64_t precision, bool alternate) {
  const auto digits = static_cast<int>(precision < 0 ? 6 : precision);
  switch (type) {
    case 'e':
      return alternate ? fmt::format("{:#.{}e}", magnitude, digits) : fmt::format("{:.{}e}", magnitude, digits);
    case 'E':
      return alternate ? fmt::format("{:#.{}E}", magnitude, digits) : fmt::format("{:.{}E}", magnitude, digits);
    case 'f':
    case 'F':
      return alternate ? fmt::format("{:#.{}f}", magnitude, digits) : fmt::format("{:.{}f}", magnitude, digits);
    default:
      break;
  }
  return GeneralDigits(magnitude, std::max(digits, 1), alternate, false, type == 'G');
}

NumberText FloatText(double value, const FormatSpec& spec) {
  NumberText text;
  text.sign.assign(std::signbit(value) && !std::isnan(value) ? 1 : 0, '-');
  const bool upper = spec.type == 'E' || spec.type == 'F' || spec.type == 'G';
  if (!std::isfinite(value)) {
    text.digits = std::isnan(value) ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
    if (spec.type == '%') text.rest.assign(1, '%');
    return text;
  }
  double magnitude = std::fabs(value);
  std::string digits;
  if (spec.type == '%') {
    magnitude *= 100;
    digits = FloatDigits(magnitude, 'f', spec.precision, spec.alternate) + "%";
  } else if (spec.type == '\0') {
    const auto significant = static_cast<int>(std::max<int64_t>(spec.precision, 1));
    digits = spec.precision < 0 ? FloatRepr(magnitude) : GeneralDigits(magnitude, significant, false, true, false);
  } else {
    digits = FloatDigits(magnitude, spec.type == 'n' ? 'g' : spec.type, spec.precision, spec.alternate);
  }
  const size_t end = std::min(digits.find_first_not_of("0123456789"), digits.size());
  text.digits = digits.substr(0, end);
  text.rest = digits.substr(end);
  return text;
}

// Puts a separator between groups of digits, after filling up with zeros to `min_width` characters.
std::string Grouped(const std::string& digits, char separator, int group, int64_t min_width) {
  std::string reversed;
  int in_group = 0;
  const auto put = [&](char digit) {
    if (in_group == group) {
      reversed += separator;
      in_group = 0;
    }
    reversed += digit;
    ++in_group;
  };
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) put(*digit);
  while (static_cast<int64_t>(reversed.size()) < min_width) put('0');
  return {reversed.rbegin(), reversed.rend()};
}

}  // namespace

Result<FormatSpec> ParseFormatSpec(std::string_view text) {
  FormatSpec spec;
  std::string_view rest = text;
  TakeAlign(&rest, &spec);
  char taken = '\0';
  if (TakeChar(&rest, "+- ", &taken)) spec.sign = taken;
  spec.alternate = TakeChar(&rest, "#", &taken);
  if (TakeChar(&rest, "0", &taken)) {
    spec.zero = spec.align == '\0';
    if (spec.fill == " ") spec.fill.assign(1, '0');
  }
  ADIT_ASSIGN_OR_RETURN(const int64_t width, TakeNumber(&rest, kMaxWidth));
  spec.width = std::max<int64_t>(width, 0);
  if (TakeChar(&rest, ",_", &taken)) spec.grouping = taken;
  if (TakeChar(&rest, ".", &taken)) {
    ADIT_ASSIGN_OR_RETURN(spec.precision, TakeNumber(&rest, kMaxPrecision));
    if (spec.precision < 0) return InvalidArgument("Format specifier missing precision");
  }
  if (rest.size() > 1) return InvalidArgument("Invalid format specifier '{}'", text);
  if (!rest.empty()) spec.type = rest.front();
  return spec;
}

Status AppendPadded(const Str& str, const FormatSpec& spec, bool untrusted, StringBuilder& out, Heap& heap) {
  int64_t length = CountChars(str);
  Str shown = str;
  if (spec.precision >= 0 && spec.precision < length) {
    length = spec.precision;
    shown = Sub(str, 0, ByteOffset(str, length));
  }
  const int64_t padding = std::max<int64_t>(spec.width - length, 0);
  const char align = spec.align == '\0' ? '<' : spec.align;
  const int64_t before = align == '>' ? padding : align == '^' ? padding / 2 : 0;
  out.AppendRepeated(spec.fill, before, untrusted);
  out.Append(shown);
  out.AppendRepeated(spec.fill, padding - before, untrusted);
  return heap.exhausted() ? heap.status() : Status();
}

Status AppendNumber(const Value& number, const FormatSpec& spec, bool untrusted, StringBuilder& out, Heap& heap) {
  if (!heap.Reserve(static_cast<size_t>(spec.width) + static_cast<size_t>(std::max<int64_t>(spec.precision, 0)))) {
    return heap.status();
  }
  NumberText text;
  if (number.is(Kind::kFloat)) {
    text = FloatText(number.real(), spec);
  } else if (number.is(Kind::kBigInt)) {
    const std::string_view digits = number.str()->view();
    text.sign.assign(digits.starts_with('-') ? 1 : 0, '-');
    text.digits = digits.substr(text.sign.size());
  } else {
    text = IntegerText(number.integer(), spec);
  }
  if (text.sign.empty() && spec.sign != '-') text.sign.assign(1, spec.sign);
  const bool zero_fill = spec.zero || (spec.align == '=' && spec.fill == "0");
  const auto head = static_cast<int64_t>(text.sign.size() + text.prefix.size());
  if (spec.grouping != '\0') {
    const bool in_fours = spec.type == 'x' || spec.type == 'X' || spec.type == 'o' || spec.type == 'b';
    const int64_t min_width = zero_fill ? spec.width - head - static_cast<int64_t>(text.rest.size()) : 0;
    text.digits = Grouped(text.digits, spec.grouping, in_fours ? 4 : 3, min_width);
  }
  const auto length = head + static_cast<int64_t>(text.digits.size() + text.rest.size());
  const int64_t padding = std::max<int64_t>(spec.width - length, 0);
  const char align = spec.align != '\0' ? spec.align : zero_fill ? '=' : '>';
  const int64_t before = align == '>' ? padding : align == '^' ? padding / 2 : 0;
  out.AppendRepeated(spec.fill, before, untrusted);
  out.Append(text.sign + text.prefix, false);
  if (align == '=') out.AppendRepeated(zero_fill ? "0" : spec.fill, padding, untrusted);
  out.Append(text.digits + text.rest, false);
  if (align != '=') out.AppendRepeated(spec.fill, padding - before, untrusted);
  return heap.exhausted() ? heap.status() : Status();
}

}  // namespace adit::chat
