#include "chat/number.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/utf8.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
// Beyond these, repr() changes to scientific notation.
constexpr int kFirstFixedPoint = -3;
constexpr int kLastFixedPoint = 16;

// Without white space at the ends and with digits of all scripts made ASCII; empty if any other non-ASCII char is left.
std::optional<std::string> AsciiNumber(std::string_view text) {
  std::u32string chars;
  while (!text.empty()) {
    const Utf8Char next = DecodeUtf8(text);
    chars += next.code_point;
    text.remove_prefix(next.length);
  }
  const auto begin = std::find_if_not(chars.begin(), chars.end(), IsSpace);
  const auto end = std::find_if_not(chars.rbegin(), std::make_reverse_iterator(begin), IsSpace).base();
  std::string ascii;
  for (auto c = begin; c != end; ++c) {
    const int digit = DecimalValue(*c);
    if (digit < 0 && *c >= 0x80) return std::nullopt;
    ascii += digit >= 0 ? static_cast<char>('0' + digit) : static_cast<char>(*c);
  }
  return ascii;
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

// Takes 0x, 0o or 0b off the front where `base` is 0 or the one it announces; returns the base to read with, 0 if none.
int TakePrefix(std::string_view* text, int base) {
  int announced = 0;
  if (text->size() > 1 && (*text)[0] == '0') {
    const char letter = static_cast<char>((*text)[1] | 0x20);
    announced = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  }
  if (announced != 0 && (base == 0 || base == announced)) {
    text->remove_prefix(2);
    if (!text->empty() && text->front() == '_') text->remove_prefix(1);
    return announced;
  }
  if (base != 0) return base;
  // Without a prefix, base 0 takes decimal numbers that do not begin with 0, and 0 itself.
  const bool leading_zero = text->size() > 1 && (*text)[0] == '0';
  return leading_zero && text->find_first_not_of("0_") != std::string_view::npos ? 0 : 10;
}

// Removes underscores that stand between two digits; empty if one stands elsewhere.
std::optional<std::string> WithoutUnderscores(std::string_view text) {
  const auto is_digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      result += text[i];
    } else if (i == 0 || !is_digit(i - 1) || !is_digit(i + 1)) {
      return std::nullopt;
    }
  }
  return result;
}

}  // namespace

DecimalDigits ShortestDigits(double value) {
  if (value == 0) return {"0", 1};
  char buffer[40] = {};
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), std::fabs(value), std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<size_t>(end - buffer));
  const size_t e = text.find('e');
  DecimalDigits result;
  for (const char c : text.substr(0, e)) {
    if (c != '.') result.digits += c;
  }
  result.point = std::atoi(text.data() + e + 1) + 1;
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  return result;
}

std::string FloatRepr(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  std::string text = std::signbit(value) ? "-" : "";
  const auto [digits, point] = ShortestDigits(value);
  const int num_digits = static_cast<int>(digits.size());
  if (point < kFirstFixedPoint || point > kLastFixedPoint) {
    text += digits[0];
    if (num_digits > 1) text.append(1, '.').append(digits, 1);
    return text + fmt::format("e{}{:02}", point - 1 < 0 ? '-' : '+', std::abs(point - 1));
  }
  if (point <= 0) return text + "0." + std::string(static_cast<size_t>(-point), '0') + digits;
  if (point >= num_digits) return text + digits + std::string(static_cast<size_t>(point - num_digits), '0') + ".0";
  return text + digits.substr(0, static_cast<size_t>(point)) + "." + digits.substr(static_cast<size_t>(point));
}

std::optional<int64_t> ParseInt(std::string_view text, int base, bool* overflow) {
  *overflow = false;
  const std::optional<std::string> ascii = AsciiNumber(text);
  if (!ascii || ascii->empty()) return std::nullopt;
  std::string_view rest = *ascii;
  const bool negative = rest.front() == '-';
  if (negative || rest.front() == '+') rest.remove_prefix(1);
  base = TakePrefix(&rest, base);
  if (base == 0 || rest.empty()) return std::nullopt;
  uint64_t magnitude = 0;
  bool after_digit = false;
  for (const char c : rest) {
    if (c == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    const int digit = DigitValue(c);
    if (digit >= base) return std::nullopt;
    after_digit = true;
    uint64_t scaled = 0;
    if (__builtin_mul_overflow(magnitude, static_cast<uint64_t>(base), &scaled) ||
        __builtin_add_overflow(scaled, static_cast<uint64_t>(digit), &magnitude)) {
      *overflow = true;
      magnitude = 0;
    }
  }
  if (!after_digit) return std::nullopt;
  const uint64_t limit = static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
  *overflow = *overflow || magnitude > limit;
  if (*overflow) return std::nullopt;
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

std::optional<double> ParseFloat(std::string_view text) {
  const std::optional<std::string> ascii = AsciiNumber(text);
  if (!ascii) return std::nullopt;
  const std::optional<std::string> plain = WithoutUnderscores(*ascii);
  if (!plain) return std::nullopt;
  std::string_view rest = *plain;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative || (!rest.empty() && rest.front() == '+')) rest.remove_prefix(1);
  if (rest.empty() || rest.front() == '-' || rest.front() == '+') return std::nullopt;
  std::string lower;
  for (const char c : rest) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  double value = 0;
  if (lower == "inf" || lower == "infinity") {
    value = std::numeric_limits<double>::infinity();
  } else if (lower == "nan") {
    value = std::numeric_limits<double>::quiet_NaN();
  } else {
    if (lower.find_first_not_of("0123456789.e+-") != std::string::npos) return std::nullopt;
    const auto [end, error] = std::from_chars(lower.data(), lower.data() + lower.size(), value);
    if (end != lower.data() + lower.size() || error == std::errc::invalid_argument) return std::nullopt;
    // Out of range: strtod tells too large from too small.
    if (error == std::errc::result_out_of_range) value = std::strtod(lower.c_str(), nullptr);
  }
  return negative ? -value : value;
}

double RoundFloat(double value, int64_t digits) {
  if (!std::isfinite(value) || value == 0) return value;
  // No double has decimals beyond the first bound, and none reaches the second.
  if (digits > 330) return value;
  if (digits < -310) return std::copysign(0.0, value);
  if (digits < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-digits));
    return std::nearbyint(value / unit) * unit;
  }
  const std::string text = fmt::format("{:.{}f}", value, digits);
  double rounded = value;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

std::optional<int64_t> AddInt(int64_t left, int64_t right) {
  int64_t result = 0;
  if (__builtin_add_overflow(left, right, &result)) return std::nullopt;
  return result;
}

std::optional<int64_t> SubtractInt(int64_t left, int64_t right) {
  int64_t result = 0;
  if (__builtin_sub_overflow(left, right, &result)) return std::nullopt;
  return result;
}

std::optional<int64_t> MultiplyInt(int64_t left, int64_t right) {
  int64_t result = 0;
  if (__builtin_mul_overflow(left, right, &result)) return std::nullopt;
  return result;
}

std::optional<int64_t> PowerInt(int64_t base, int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  std::optional<int64_t> result = 1;
  for (int64_t i = 0; i < exponent && result; ++i) result = MultiplyInt(*result, base);
  return result;
}

std::optional<int64_t> FloorDivideInt(int64_t left, int64_t right) {
  if (right == -1) return SubtractInt(0, left);
  const int64_t quotient = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}

int64_t ModuloInt(int64_t left, int64_t right) {
  if (right == -1) return 0;
  const int64_t rest = left % right;
  return rest != 0 && (rest < 0) != (right < 0) ? rest + right : rest;
}

double ModuloFloat(double left, double right) {
  double rest = std::fmod(left, right);
  if (rest == 0) return std::copysign(0.0, right);
  if ((rest < 0) != (right < 0)) rest += right;
  return rest;
}

double FloorDivideFloat(double left, double right) {
  const double rest = std::fmod(left, right);
  double quotient = (left - rest) / right;
  if (rest != 0 && (rest < 0) != (right < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, left / right);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

std::optional<int64_t> TruncateFloat(double value) {
  const double truncated = std::trunc(value);
  if (!(truncated >= -kTwoTo63 && truncated < kTwoTo63)) return std::nullopt;
  return static_cast<int64_t>(truncated);
}

int CompareIntFloat(int64_t left, double right) {
  if (std::isnan(right)) return 2;
  if (right >= kTwoTo63) return -1;
  if (right < -kTwoTo63) return 1;
  const auto whole = static_cast<int64_t>(right);
  if (left != whole) return left < whole ? -1 : 1;
  const double fraction = right - std::trunc(right);
  return fraction > 0 ? -1 : fraction < 0 ? 1 : 0;
}

}  // namespace adit::chat
