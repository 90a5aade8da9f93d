#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/builtin_args.h"
#include "chat/container.h"
#include "chat/format_field.h"
#include "chat/operators.h"
#include "chat/string_ops.h"
#include "chat/text.h"

// Methods of strings that pad them or fill them in.
namespace adit::chat {
namespace {

Result<Value> PadBy(Evaluator& eval, const Value& self, const Args& args, PadSides sides) {
  ADIT_ASSIGN_OR_RETURN(const int64_t width, IntArg(args, 0, 0, "width"));
  ADIT_ASSIGN_OR_RETURN(const Str* fill, StrArg(args, 1, "fillchar"));
  if (fill == nullptr) fill = Literal(eval, " ");
  if (CountChars(*fill) != 1) return InvalidArgument("The fill character must be exactly one character long");
  const Str& str = *self.str();
  if (str.markup) {
    fill = EscapeHtml(*fill, eval.heap());
    if (CountChars(*fill) != 1) return InvalidArgument("The fill character must be exactly one character long");
  }
  return Value(Pad(str, width, *fill, sides, eval.heap()));
}

Result<Value> CenterMethod(Evaluator& eval, const Value& self, const Args& args) {
  return PadBy(eval, self, args, {.left = true, .right = true});
}

Result<Value> LJust(Evaluator& eval, const Value& self, const Args& args) {
  return PadBy(eval, self, args, {.left = false, .right = true});
}

Result<Value> RJust(Evaluator& eval, const Value& self, const Args& args) {
  return PadBy(eval, self, args, {.left = true, .right = false});
}

// Zeros go behind a sign.
Result<Value> ZFill(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t width, IntArg(args, 0, 0, "width"));
  const Str& str = *self.str();
  const int64_t padding = width - CountChars(str);
  if (padding <= 0) return self;
  const size_t sign = str.view().starts_with('-') || str.view().starts_with('+') ? 1 : 0;
  StringBuilder builder(eval.heap());
  builder.Append(str, 0, sign);
  builder.AppendRepeated("0", padding, false);
  builder.Append(str, sign, str.size);
  return Value(WithMarkup(*builder.Finish(), str.markup, eval.heap()));
}

Result<Value> ExpandTabs(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t tab_size, IntArg(args, 0, 8, "tabsize"));
  const Str& str = *self.str();
  StringBuilder builder(eval.heap());
  int64_t column = 0;
  for (size_t pos = 0; pos < str.size && !eval.heap().exhausted();) {
    const size_t end = pos + CharLength(str.data[pos]);
    const char c = str.data[pos];
    if (c == '\t') {
      const int64_t blanks = tab_size > 0 ? tab_size - column % tab_size : 0;
      builder.AppendRepeated(" ", blanks, Sub(str, pos, end).untrusted);
      column += blanks;
    } else {
      builder.Append(str, pos, end);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
    pos = end;
  }
  return Value(WithMarkup(*builder.Finish(), str.markup, eval.heap()));
}

Result<Value> FormatMethod(Evaluator& eval, const Value& self, const Args& args) {
  return FormatFields(eval, *self.str(), args.raw, false);
}

Result<Value> FormatMap(Evaluator& eval, const Value& self, const Args& args) {
  if (!args[0].is(Kind::kDict)) return InvalidArgument("format_map() takes a mapping, not {}", TypeName(args[0]));
  std::vector<KeywordArg> keywords;
  for (const DictEntry& entry : args[0].dict()->span()) {
    if (entry.key.is(Kind::kString)) keywords.push_back({entry.key.str(), entry.value});
  }
  return FormatFields(eval, *self.str(), {{}, keywords}, true);
}

constexpr Builtin kStringLayoutMethods[] = {
    {"center", "_,_", 1, CenterMethod},
    {"ljust", "_,_", 1, LJust},
    {"rjust", "_,_", 1, RJust},
    {"zfill", "_", 1, ZFill},
    {"expandtabs", "tabsize", 0, ExpandTabs},
    {"format", "*", 0, FormatMethod},
    {"format_map", "_", 1, FormatMap},
};

}  // namespace

std::span<const Builtin> StringLayoutMethods() { return kStringLayoutMethods; }

}  // namespace adit::chat
