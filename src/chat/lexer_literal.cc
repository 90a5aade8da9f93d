#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "base/utf8.h"
#include "chat/lexer_internal.h"
#include "chat/number.h"
#include "chat/text.h"
#include "chat/unicode.h"

namespace adit::chat {
namespace {

bool IsDigit10(char c) { return c >= '0' && c <= '9'; }

int HexValue(char c) {
  if (IsDigit10(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Length of digits at `pos`, single underscores between them included; 0 if no digit stands there.
size_t DigitRun(std::string_view text, size_t pos) {
  size_t end = pos;
  while (end < text.size() && (IsDigit10(text[end]) || (text[end] == '_' && end > pos && text[end - 1] != '_'))) ++end;
  while (end > pos && text[end - 1] == '_') --end;
  return end - pos;
}

// Length of the float at the start, 0 if there is none: digits with a fraction, an exponent or both.
size_t FloatLength(std::string_view text) {
  size_t end = DigitRun(text, 0);
  bool is_float = false;
  if (end < text.size() && text[end] == '.') {
    const size_t fraction = DigitRun(text, end + 1);
    if (fraction > 0) {
      end += 1 + fraction;
      is_float = true;
    }
  }
  if (end < text.size() && (text[end] | 0x20) == 'e') {
    const bool has_sign = end + 1 < text.size() && (text[end + 1] == '+' || text[end + 1] == '-');
    const size_t digits = end + (has_sign ? 2 : 1);
    const size_t exponent = DigitRun(text, digits);
    if (exponent > 0) {
      end = digits + exponent;
      is_float = true;
    }
  }
  return is_float ? end : 0;
}

// Length of the integer at the start: 0x, 0o or 0b with its digits, a decimal number, or zeros.
size_t IntegerLength(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    const int base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    size_t end = 2;
    const auto is_digit = [&](size_t i) {
      const int value = i < text.size() ? HexValue(text[i]) : -1;
      return value >= 0 && value < base;
    };
    while (base != 0 && (is_digit(end) || (end < text.size() && text[end] == '_' && is_digit(end + 1)))) ++end;
    if (end > 2) return end;
  }
  const size_t run = DigitRun(text, 0);
  if (text[0] != '0') return run;
  return std::min(run, text.substr(0, run).find_first_not_of("0_"));
}

// The value of exactly `size` hexadecimal digits.
std::optional<uint32_t> HexDigits(std::string_view text, size_t size) {
  if (text.size() < size) return std::nullopt;
  uint32_t value = 0;
  for (const char c : text.substr(0, size)) {
    if (HexValue(c) < 0) return std::nullopt;
    value = value << 4 | static_cast<uint32_t>(HexValue(c));
  }
  return value;
}

// The character of a one-letter escape; 0 if the letter is none.
char SimpleEscape(char letter) {
  constexpr std::string_view kLetters = "\\'\"abfnrtv";
  constexpr std::string_view kValues = "\\'\"\a\b\f\n\r\t\v";
  const size_t index = kLetters.find(letter);
  return index == std::string_view::npos ? '\0' : kValues[index];
}

class Unescaper {
 public:
  Unescaper(std::string_view rest, int line, std::string* out) : rest_(rest), line_(line), out_(out) {}

  Status Run() {
    while (!rest_.empty()) {
      const size_t plain = std::min(rest_.find('\\'), rest_.size());
      out_->append(rest_.substr(0, plain));
      rest_.remove_prefix(plain);
      if (!rest_.empty()) ADIT_RETURN_IF_ERROR(TakeEscape());
    }
    return Status();
  }

 private:
  Status TakeEscape();
  Status TakeHex(size_t size);
  void TakeOctal();

  std::string_view rest_;
  const int line_;
  std::string* out_;
};

// Precondition: rest_ begins with a backslash, and a character follows.
Status Unescaper::TakeEscape() {
  const char letter = rest_[1];
  if (letter == '\n') {
    rest_.remove_prefix(2);
  } else if (const char value = SimpleEscape(letter); value != '\0') {
    out_->push_back(value);
    rest_.remove_prefix(2);
  } else if (letter == 'x' || letter == 'u' || letter == 'U') {
    return TakeHex(letter == 'x' ? 2 : letter == 'u' ? 4 : 8);
  } else if (letter >= '0' && letter <= '7') {
    TakeOctal();
  } else if (letter == 'N') {
    return SyntaxError(line_, "the escape \\N{...} is not supported; \\u takes the code point");
  } else {
    // Not an escape: the backslash stays.
    const size_t size = 1 + CharLength(letter);
    out_->append(rest_.substr(0, size));
    rest_.remove_prefix(size);
  }
  return Status();
}

Status Unescaper::TakeHex(size_t size) {
  const std::optional<uint32_t> code_point = HexDigits(rest_.substr(2), size);
  if (!code_point) return SyntaxError(line_, fmt::format("the escape \\{} takes {} hex digits", rest_[1], size));
  if (*code_point > 0x10FFFF || (*code_point >= 0xD800 && *code_point <= 0xDFFF)) {
    return SyntaxError(line_, fmt::format("the escape \\{}{:x} is no character", rest_[1], *code_point));
  }
  AppendUtf8(*code_point, *out_);
  rest_.remove_prefix(2 + size);
  return Status();
}

void Unescaper::TakeOctal() {
  uint32_t value = 0;
  size_t end = 1;
  while (end < 4 && end < rest_.size() && rest_[end] >= '0' && rest_[end] <= '7') {
    value = value * 8 + static_cast<uint32_t>(rest_[end++] - '0');
  }
  AppendUtf8(value, *out_);
  rest_.remove_prefix(end);
}

}  // namespace

Status ScanNumber(std::string_view text, bool after_dot, Token* token, size_t* size) {
  if (!after_dot && FloatLength(text) > 0) {
    *size = FloatLength(text);
    token->type = TokenType::kFloat;
    std::string digits(text.substr(0, *size));
    std::erase(digits, '_');
    token->real = ParseFloat(digits).value_or(0);
    return Status();
  }
  *size = IntegerLength(text);
  std::string digits(text.substr(0, *size));
  std::erase(digits, '_');
  bool overflow = false;
  const std::optional<int64_t> value = ParseInt(digits, 0, &overflow);
  token->type = TokenType::kInteger;
  token->integer = value.value_or(0);
  if (overflow) {
    if (digits[0] == '0') return SyntaxError(token->line, fmt::format("the integer {} does not fit 64 bits", digits));
    token->text = digits;
  }
  return Status();
}

Status Unescape(std::string_view quoted, int line, std::string* text) { return Unescaper(quoted, line, text).Run(); }

size_t StrippedEnd(std::string_view text) {
  size_t end = text.size();
  while (end > 0) {
    const size_t begin = PreviousChar(text, end);
    if (!IsSpace(DecodeUtf8(text.substr(begin)).code_point)) break;
    end = begin;
  }
  return end;
}

size_t StrippedBegin(std::string_view text) {
  size_t begin = 0;
  while (begin < text.size()) {
    const Utf8Char next = DecodeUtf8(text.substr(begin));
    if (!IsSpace(next.code_point)) break;
    begin += next.length;
  }
  return begin;
}

}  // namespace adit::chat
