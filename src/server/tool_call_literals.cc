// Calls written as in a programming language.
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "server/json_fields.h"
#include "server/tool_parser_internal.h"

namespace adit::server {
namespace {

// How a language writes values.
enum class LiteralStyle : unsigned char {
  kPython,  // 'x', True, None, {"a": 1}, (1, 2)
  kGemma,   // <escape>x<escape>, true, null, {a:1}
};

// Reads values one after the other from a text. Everything returns false, for good, at the first thing that is none.
class LiteralReader {
 public:
  LiteralReader(std::string_view text, LiteralStyle style) : text_(text), style_(style) {}

  bool Value(OrderedJson& out) { return ReadValue(out, 0); }
  // A name: letters, digits, '_', and what `also` holds.
  bool Name(std::string& out, std::string_view also = "");
  // Passes over white space, and then over `mark` if it stands there.
  bool Take(std::string_view mark);
  bool AtEnd();

 private:
  static constexpr int kMaxDepth = 32;

  bool ReadValue(OrderedJson& out, int depth);
  bool ReadList(char end, OrderedJson& out, int depth);
  bool ReadObject(OrderedJson& out, int depth);
  bool ReadKey(std::string& out);
  bool ReadQuoted(std::string& out);
  bool ReadEscape(std::string& out);
  bool ReadNumber(OrderedJson& out);
  void SkipSpace();

  std::string_view text_;
  const LiteralStyle style_;
};

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

constexpr std::string_view kEscape = "<escape>";

void AppendUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

OutputDelta CallWith(std::string name, const OrderedJson& arguments) {
  return {.kind = OutputDelta::Kind::kToolCall,
          .text = arguments.dump(-1, ' ', false, OrderedJson::error_handler_t::replace),
          .name = std::move(name)};
}

void LiteralReader::SkipSpace() {
  while (!text_.empty() && IsJsonSpace(text_.front())) text_.remove_prefix(1);
}

bool LiteralReader::Take(std::string_view mark) {
  SkipSpace();
  if (!text_.starts_with(mark)) return false;
  text_.remove_prefix(mark.size());
  return true;
}

bool LiteralReader::AtEnd() {
  SkipSpace();
  return text_.empty();
}

bool LiteralReader::Name(std::string& out, std::string_view also) {
  SkipSpace();
  size_t size = 0;
  while (size < text_.size() && (IsNameByte(text_[size]) || also.find(text_[size]) != std::string_view::npos)) ++size;
  out = text_.substr(0, size);
  text_.remove_prefix(size);
  return size > 0;
}

bool LiteralReader::ReadValue(OrderedJson& out, int depth) {
  if (depth > kMaxDepth) return false;
  SkipSpace();
  if (text_.empty()) return false;
  const bool is_python = style_ == LiteralStyle::kPython;
  const std::pair<std::string_view, OrderedJson> kWords[] = {{is_python ? "True" : "true", true},
                                                             {is_python ? "False" : "false", false},
                                                             {is_python ? "None" : "null", nullptr}};
  for (const auto& [word, value] : kWords) {
    if (!text_.starts_with(word) || (text_.size() > word.size() && IsNameByte(text_[word.size()]))) continue;
    text_.remove_prefix(word.size());
    out = value;
    return true;
  }
  const char first = text_.front();
  if (first == '[') return ReadList(']', out, depth);
  if (first == '(' && is_python) return ReadList(')', out, depth);
  if (first == '{') return ReadObject(out, depth);
  if (first == '-' || (first >= '0' && first <= '9')) return ReadNumber(out);
  std::string text;
  if (!ReadQuoted(text)) return false;
  out = std::move(text);
  return true;
}

// A comma may stand behind the last item.
bool LiteralReader::ReadList(char end, OrderedJson& out, int depth) {
  const std::string close(1, end);
  text_.remove_prefix(1);
  out = OrderedJson::array();
  while (!Take(close)) {
    OrderedJson item;
    if (!ReadValue(item, depth + 1)) return false;
    out.push_back(std::move(item));
    if (Take(",")) continue;
    return Take(close);
  }
  return true;
}

bool LiteralReader::ReadObject(OrderedJson& out, int depth) {
  text_.remove_prefix(1);
  out = OrderedJson::object();
  while (!Take("}")) {
    std::string key;
    OrderedJson value;
    if (!ReadKey(key) || !Take(":") || !ReadValue(value, depth + 1)) return false;
    out[key] = std::move(value);
    if (Take(",")) continue;
    return Take("}");
  }
  return true;
}

bool LiteralReader::ReadKey(std::string& out) {
  SkipSpace();
  if (style_ == LiteralStyle::kGemma && !text_.starts_with(kEscape)) return Name(out, "-.");
  return ReadQuoted(out);
}

bool LiteralReader::ReadQuoted(std::string& out) {
  if (style_ == LiteralStyle::kGemma) {
    if (!Take(kEscape)) return false;
    const size_t end = text_.find(kEscape);
    if (end == std::string_view::npos) return false;
    out = text_.substr(0, end);
    text_.remove_prefix(end + kEscape.size());
    return true;
  }
  const char quote = text_.front();
  if (quote != '"' && quote != '\'') return false;
  text_.remove_prefix(1);
  while (!text_.empty() && text_.front() != quote) {
    const char c = text_.front();
    if (c == '\n') return false;
    text_.remove_prefix(1);
    if (c == '\\') {
      if (!ReadEscape(out)) return false;
    } else {
      out += c;
    }
  }
  if (text_.empty()) return false;
  text_.remove_prefix(1);
  return true;
}

// What stands behind a backslash; one that means nothing stays, as in Python.
bool LiteralReader::ReadEscape(std::string& out) {
  if (text_.empty()) return false;
  const char c = text_.front();
  text_.remove_prefix(1);
  constexpr std::string_view kFrom = "ntrbfva0\\'\"";
  constexpr std::string_view kTo("\n\t\r\b\f\v\a\0\\'\"", 11);
  if (const size_t at = kFrom.find(c); at != std::string_view::npos) {
    out += kTo[at];
    return true;
  }
  const size_t num_digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
  if (num_digits == 0) {
    out += '\\';
    out += c;
    return true;
  }
  if (text_.size() < num_digits) return false;
  uint32_t code = 0;
  for (const char digit : text_.substr(0, num_digits)) {
    const bool is_digit = digit >= '0' && digit <= '9';
    const char lower = static_cast<char>(digit | 0x20);
    if (!is_digit && !(lower >= 'a' && lower <= 'f')) return false;
    code = code * 16 + static_cast<uint32_t>(is_digit ? digit - '0' : lower - 'a' + 10);
  }
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return false;
  text_.remove_prefix(num_digits);
  AppendUtf8(code, out);
  return true;
}

bool LiteralReader::ReadNumber(OrderedJson& out) {
  size_t size = 0;
  while (size < text_.size() &&
         (IsNameByte(text_[size]) || text_[size] == '-' || text_[size] == '+' || text_[size] == '.')) {
    ++size;
  }
  const std::optional<OrderedJson> number = ParseOrdered(text_.substr(0, size));
  if (!number || !number->is_number()) return false;
  out = *number;
  text_.remove_prefix(size);
  return true;
}

}  // namespace

bool ReadPythonCalls(std::string_view text, std::vector<OutputDelta>& calls) {
  text = TrimJsonSpace(text);
  constexpr std::string_view kEnd = "<|python_end|>";
  if (text.ends_with(kEnd)) text.remove_suffix(kEnd.size());
  if (text.size() > kMaxCallBytes) return false;
  LiteralReader reader(text, LiteralStyle::kPython);
  if (!reader.Take("[")) return false;
  while (!reader.Take("]")) {
    std::string name;
    if (!reader.Name(name, ".") || !reader.Take("(")) return false;
    OrderedJson arguments = OrderedJson::object();
    while (!reader.Take(")")) {
      std::string key;
      OrderedJson value;
      if (!reader.Name(key) || !reader.Take("=") || !reader.Value(value)) return false;
      arguments[key] = std::move(value);
      if (reader.Take(",")) continue;
      if (!reader.Take(")")) return false;
      break;
    }
    calls.push_back(CallWith(std::move(name), arguments));
    if (reader.Take(",")) continue;
    if (!reader.Take("]")) return false;
    break;
  }
  return reader.AtEnd() && !calls.empty();
}

bool ReadGemmaCalls(std::string_view text, std::vector<OutputDelta>& calls) {
  if (text.size() > kMaxCallBytes) return false;
  LiteralReader reader(text, LiteralStyle::kGemma);
  std::string name;
  OrderedJson arguments;
  if (!reader.Take("call:") || !reader.Name(name, ".-") || !reader.Value(arguments) || !arguments.is_object()) {
    return false;
  }
  calls.push_back(CallWith(std::move(name), arguments));
  return reader.AtEnd();
}

}  // namespace adit::server
