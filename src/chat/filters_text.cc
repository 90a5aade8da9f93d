#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/builtin_args.h"
#include "chat/operators.h"
#include "chat/string_ops.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/unicode.h"

// Filters from one text to another.
namespace adit::chat {
namespace {

Result<Value> Cased(Evaluator& eval, const Value& self, LetterCase letter_case) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  return Value(ChangeCase(*text, letter_case, eval.heap()));
}

Result<Value> Upper(Evaluator& eval, const Value& self, const Args&) { return Cased(eval, self, LetterCase::kUpper); }

Result<Value> Lower(Evaluator& eval, const Value& self, const Args&) { return Cased(eval, self, LetterCase::kLower); }

Result<Value> Capitalize(Evaluator& eval, const Value& self, const Args&) {
  return Cased(eval, self, LetterCase::kCapitalized);
}

// Jinja's own rule: a word begins after white space, - ( { [ or <, not after an apostrophe.
bool EndsWord(char32_t c) { return IsSpace(c) || std::u32string_view(U"-({[<").find(c) != std::u32string_view::npos; }

Result<Value> Title(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  StringBuilder builder(eval.heap());
  const std::string_view view = text->view();
  for (size_t begin = 0; begin < view.size() && !eval.heap().exhausted();) {
    size_t end = begin;
    bool between = false;
    while (end < view.size()) {
      const Utf8Char c = DecodeUtf8(view.substr(end));
      if (end == begin) between = EndsWord(c.code_point);
      if (EndsWord(c.code_point) != between) break;
      end += c.length;
    }
    const size_t first_end = begin + CharLength(view[begin]);
    builder.Append(*ChangeCase(Sub(*text, begin, first_end), LetterCase::kUpper, eval.heap()));
    builder.Append(*ChangeCase(Sub(*text, first_end, end), LetterCase::kLower, eval.heap()));
    begin = end;
  }
  return Value(builder.Finish());
}

Result<Value> Trim(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  ADIT_ASSIGN_OR_RETURN(const Str* chars, StrArg(args, 0, "chars"));
  return Value(Strip(*text, chars, {}, eval.heap()));
}

Result<Value> ReplaceFilter(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  ADIT_ASSIGN_OR_RETURN(const Str* old, SoftStr(eval, args[0]));
  ADIT_ASSIGN_OR_RETURN(const Str* replacement, SoftStr(eval, args[1]));
  const bool counted = args.has(2) && !args[2].is(Kind::kNone);
  ADIT_ASSIGN_OR_RETURN(const int64_t count, counted ? IntArg(args, 2, -1, "count") : Result<int64_t>(-1));
  return Value(Replace(*WithMarkup(*text, false, eval.heap()), *old, *replacement, count, eval.heap()));
}

Result<Value> String(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  return Value(text);
}

Result<Value> Format(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* format, SoftStr(eval, self));
  if (!args.raw.positional.empty() && !args.raw.keywords.empty()) {
    return InvalidArgument("filter 'format' takes positional or keyword arguments, not both");
  }
  if (args.raw.keywords.empty()) {
    const Value items = BorrowSequence(eval.heap(), SequenceType::kTuple, args.raw.positional);
    return FormatPercent(*format, items, eval.heap());
  }
  std::vector<DictEntry> entries;
  for (const KeywordArg& keyword : args.raw.keywords) entries.push_back({keyword.name, keyword.value});
  return FormatPercent(*format, NewDict(eval.heap(), entries), eval.heap());
}

Result<Value> WordCount(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  eval.heap().Spend(static_cast<int64_t>(text->size / 16));
  int64_t count = 0;
  bool in_word = false;
  for (std::string_view rest = text->view(); !rest.empty();) {
    const Utf8Char c = DecodeUtf8(rest);
    rest.remove_prefix(c.length);
    const bool is_word = IsWordChar(c.code_point);
    if (is_word && !in_word) ++count;
    in_word = is_word;
  }
  return Value::Int(count);
}

constexpr Builtin kTextFilters[] = {
    {"upper", "", 0, Upper},   {"lower", "", 0, Lower},    {"capitalize", "", 0, Capitalize},
    {"title", "", 0, Title},   {"trim", "chars", 0, Trim}, {"replace", "old,new,count", 2, ReplaceFilter},
    {"string", "", 0, String}, {"format", "*", 0, Format}, {"wordcount", "", 0, WordCount},
};

}  // namespace

std::span<const Builtin> TextFilters() { return kTextFilters; }

}  // namespace adit::chat
