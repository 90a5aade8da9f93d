#include "base/utf8.h"
#include "chat/builtin_args.h"
#include "chat/string_ops.h"
#include "chat/unicode.h"

// Methods of strings about letters: their case and kind.
namespace adit::chat {
namespace {

template <LetterCase kCase>
Result<Value> Cased(Evaluator& eval, const Value& self, const Args&) {
  return Value(ChangeCase(*self.str(), kCase, eval.heap()));
}

// Whether all chars are of a kind, of which an empty string has none.
template <bool (*kPredicate)(char32_t)>
Result<Value> AllChars(Evaluator& eval, const Value& self, const Args&) {
  std::string_view rest = self.str()->view();
  eval.heap().Spend(static_cast<int64_t>(rest.size() / 64));
  if (rest.empty()) return Value::Bool(false);
  while (!rest.empty()) {
    const Utf8Char c = DecodeUtf8(rest);
    if (!kPredicate(c.code_point)) return Value::Bool(false);
    rest.remove_prefix(c.length);
  }
  return Value::Bool(true);
}

bool IsAlnum(char32_t c) { return IsAlpha(c) || IsNumeric(c); }

// Whether all cased chars are of one case, and there is one.
template <bool (*kPredicate)(char32_t)>
Result<Value> CasedChars(Evaluator& eval, const Value& self, const Args&) {
  bool any = false;
  std::string_view rest = self.str()->view();
  eval.heap().Spend(static_cast<int64_t>(rest.size() / 64));
  while (!rest.empty()) {
    const Utf8Char c = DecodeUtf8(rest);
    rest.remove_prefix(c.length);
    if (!IsCased(c.code_point)) continue;
    if (!kPredicate(c.code_point)) return Value::Bool(false);
    any = true;
  }
  return Value::Bool(any);
}

Result<Value> IsAscii(Evaluator&, const Value& self, const Args&) {
  for (const char c : self.str()->view()) {
    if (static_cast<uint8_t>(c) >= 0x80) return Value::Bool(false);
  }
  return Value::Bool(true);
}

Result<Value> IsPrintableMethod(Evaluator& eval, const Value& self, const Args& args) {
  if (self.str()->size == 0) return Value::Bool(true);
  return AllChars<IsPrintable>(eval, self, args);
}

Result<Value> IsIdentifier(Evaluator& eval, const Value& self, const Args& args) {
  const std::string_view text = self.str()->view();
  if (text.empty() || !IsIdentifierStart(DecodeUtf8(text).code_point)) return Value::Bool(false);
  return AllChars<IsIdentifierPart>(eval, self, args);
}

// Words begin with a capital and go on in lower case.
Result<Value> IsTitleMethod(Evaluator& eval, const Value& self, const Args&) {
  bool any = false;
  bool after_cased = false;
  std::string_view rest = self.str()->view();
  eval.heap().Spend(static_cast<int64_t>(rest.size() / 64));
  while (!rest.empty()) {
    const Utf8Char c = DecodeUtf8(rest);
    rest.remove_prefix(c.length);
    const bool capital = IsUpper(c.code_point) || IsTitle(c.code_point);
    const bool small = IsLower(c.code_point);
    if ((capital && after_cased) || (small && !after_cased)) return Value::Bool(false);
    after_cased = capital || small;
    any = any || after_cased;
  }
  return Value::Bool(any);
}

constexpr Builtin kStringCaseMethods[] = {
    {"upper", "", 0, Cased<LetterCase::kUpper>},
    {"lower", "", 0, Cased<LetterCase::kLower>},
    {"title", "", 0, Cased<LetterCase::kTitle>},
    {"capitalize", "", 0, Cased<LetterCase::kCapitalized>},
    {"swapcase", "", 0, Cased<LetterCase::kSwapped>},
    {"casefold", "", 0, Cased<LetterCase::kFolded>},
    {"isupper", "", 0, CasedChars<IsUpper>},
    {"islower", "", 0, CasedChars<IsLower>},
    {"istitle", "", 0, IsTitleMethod},
    {"isspace", "", 0, AllChars<IsSpace>},
    {"isalpha", "", 0, AllChars<IsAlpha>},
    {"isalnum", "", 0, AllChars<IsAlnum>},
    {"isdigit", "", 0, AllChars<IsDigit>},
    {"isdecimal", "", 0, AllChars<IsDecimal>},
    {"isnumeric", "", 0, AllChars<IsNumeric>},
    {"isascii", "", 0, IsAscii},
    {"isprintable", "", 0, IsPrintableMethod},
    {"isidentifier", "", 0, IsIdentifier},
};

}  // namespace

std::span<const Builtin> StringCaseMethods() { return kStringCaseMethods; }

}  // namespace adit::chat
