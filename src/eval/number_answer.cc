#include "eval/number_answer.h"

#include <cctype>

#include "base/error.h"
#include "formats/json.h"

namespace adit::eval {
namespace {

using formats::Json;

constexpr formats::JsonLimits kLineLimits = {.max_bytes = size_t{4} << 20, .max_depth = 16, .max_values = 10'000};
constexpr std::string_view kMark = "#### ";

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool IsNumberChar(char c) { return IsDigit(c) || c == '.' || c == ','; }

Result<std::string> StringOf(const Json& json, std::string_view key, const std::string& name) {
  const Json* value = json.Find(key);
  if (value == nullptr) return Corrupt("{}: no \"{}\"", name, key);
  if (value->AsString() == nullptr) return Corrupt("{}: \"{}\" is {}, wanted a string", name, key, value->KindName());
  return *value->AsString();
}

// The end of a stretch of digits, dots and commas.
size_t EndOfNumber(std::string_view text, size_t begin) {
  while (begin < text.size() && IsNumberChar(text[begin])) ++begin;
  return begin;
}

bool HasDigit(std::string_view text) {
  for (const char c : text) {
    if (IsDigit(c)) return true;
  }
  return false;
}

}  // namespace

Result<NumberItem> ParseGsm8k(std::string_view line, const std::string& name) {
  ADIT_ASSIGN_OR_RETURN(const Json json, Json::Parse(line, name, kLineLimits));
  NumberItem item;
  ADIT_ASSIGN_OR_RETURN(item.question, StringOf(json, "question", name));
  ADIT_ASSIGN_OR_RETURN(item.reasoning, StringOf(json, "answer", name));
  const std::optional<std::string> number = MarkedNumber(item.reasoning);
  if (!number) return Corrupt("{}: \"answer\" has no number behind '{}'", name, kMark);
  item.number = *number;
  return item;
}

std::string NumberPrompt(const NumberItem& item) { return "Question: " + item.question + "\nAnswer:"; }

std::string AsNumberExample(const NumberItem& item) { return NumberPrompt(item) + " " + item.reasoning + "\n\n"; }

std::string NormalisedNumber(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ',' && c != '$') out += c;
  }
  while (out.ends_with('.')) out.pop_back();
  return out;
}

std::optional<std::string> MarkedNumber(std::string_view answer) {
  for (size_t at = answer.find(kMark); at != std::string_view::npos; at = answer.find(kMark, at + 1)) {
    const size_t begin = at + kMark.size();
    const size_t digits = begin < answer.size() && answer[begin] == '-' ? begin + 1 : begin;
    const size_t end = EndOfNumber(answer, digits);
    if (HasDigit(answer.substr(digits, end - digits))) return NormalisedNumber(answer.substr(begin, end - begin));
  }
  return std::nullopt;
}

std::optional<std::string> LastNumber(std::string_view answer) {
  std::optional<std::string> last;
  for (size_t at = 0; at < answer.size();) {
    if (!IsNumberChar(answer[at])) {
      ++at;
      continue;
    }
    const size_t end = EndOfNumber(answer, at);
    if (HasDigit(answer.substr(at, end - at))) {
      size_t begin = at;
      if (begin > 0 && answer[begin - 1] == '$') --begin;
      if (begin > 0 && answer[begin - 1] == '-') --begin;
      last = NormalisedNumber(answer.substr(begin, end - begin));
    }
    at = end;
  }
  return last;
}

}  // namespace adit::eval
