#include <algorithm>

#include "base/error.h"
#include "base/utf8.h"
#include "chat/builtin_args.h"
#include "chat/operators.h"
#include "chat/string_ops.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/wordwrap.h"

// Filters that lay text out in lines.
namespace adit::chat {
namespace {

constexpr int64_t kDefaultLeeway = 5;

Result<Value> Center(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, self));
  ADIT_ASSIGN_OR_RETURN(const int64_t width, IntArg(args, 0, 80, "width"));
  return Value(Pad(*text, width, *Literal(eval, " "), {}, eval.heap()));
}

Result<const Str*> Indentation(Evaluator& eval, const Args& args) {
  if (args.has(0) && args[0].is(Kind::kString)) return args[0].str();
  ADIT_ASSIGN_OR_RETURN(const int64_t width, IntArg(args, 0, 4, "width"));
  StringBuilder blanks(eval.heap());
  blanks.AppendRepeated(" ", width, false);
  return blanks.Finish();
}

Result<Value> Indent(Evaluator& eval, const Value& self, const Args& args) {
  if (!self.is(Kind::kString)) return Arithmetic(ArithmeticOp::kAdd, self, Literal(eval, "\n"), eval.heap());
  ADIT_ASSIGN_OR_RETURN(const Str* indentation, Indentation(eval, args));
  const bool first = BoolArg(args, 1, false);
  const bool blank = BoolArg(args, 2, false);
  // As Jinja does it: with a line end added, so that a line end at the end of the text stays.
  const Str& text = *self.str();
  const Str* with_end = Concat(eval.heap(), text, *Literal(eval, "\n"));
  const std::vector<Str> lines = SplitLines(*with_end, false, eval.heap());
  StringBuilder builder(eval.heap());
  for (size_t i = 0; i < lines.size() && !eval.heap().exhausted(); ++i) {
    if (i > 0) builder.Append("\n", false);
    if (i == 0 ? first : blank || lines[i].size > 0) builder.Append(*indentation);
    builder.Append(lines[i]);
  }
  return Value(WithMarkup(*builder.Finish(), text.markup, eval.heap()));
}

struct TruncateOptions {
  int64_t length = 255;
  int64_t leeway = kDefaultLeeway;
  const Str* end = nullptr;
};

Result<TruncateOptions> ReadTruncateOptions(Evaluator& eval, const Args& args) {
  TruncateOptions options;
  ADIT_ASSIGN_OR_RETURN(options.length, IntArg(args, 0, 255, "length"));
  ADIT_ASSIGN_OR_RETURN(options.end, StrArg(args, 2, "end"));
  if (options.end == nullptr) options.end = Literal(eval, "...");
  if (args.has(3) && !args[3].is(Kind::kNone)) {
    ADIT_ASSIGN_OR_RETURN(options.leeway, IntArg(args, 3, 0, "leeway"));
  }
  const int64_t end_length = CountChars(*options.end);
  if (options.length < end_length) return InvalidArgument("expected length >= {}, got {}", end_length, options.length);
  if (options.leeway < 0) return InvalidArgument("expected leeway >= 0, got {}", options.leeway);
  return options;
}

Result<Value> Truncate(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const TruncateOptions options, ReadTruncateOptions(eval, args));
  const Result<Iteration> items = Iteration::Over(self, eval.heap());
  if (!items.ok() || !items->has_length()) return InvalidArgument("object of type '{}' has no len()", TypeName(self));
  if (items->length() <= options.length || items->length() - options.length <= options.leeway) return self;
  if (!self.is(Kind::kString)) return InvalidArgument("filter 'truncate' takes a string, not '{}'", TypeName(self));
  const Str& text = *self.str();
  size_t cut = ByteOffset(text, options.length - CountChars(*options.end));
  if (!BoolArg(args, 1, false)) {
    const size_t blank = text.view().substr(0, cut).rfind(' ');
    if (blank != std::string_view::npos) cut = blank;
  }
  return Value(AddStrings(Sub(text, 0, cut), *options.end, eval.heap()));
}

Result<Value> WordWrap(Evaluator& eval, const Value& self, const Args& args) {
  if (!self.is(Kind::kString)) return InvalidArgument("filter 'wordwrap' takes a string, not '{}'", TypeName(self));
  WrapOptions options;
  ADIT_ASSIGN_OR_RETURN(options.width, IntArg(args, 0, 79, "width"));
  options.break_long_words = BoolArg(args, 1, true);
  ADIT_ASSIGN_OR_RETURN(const Str* line_end, StrArg(args, 2, "wrapstring"));
  options.break_on_hyphens = BoolArg(args, 3, true);
  if (line_end == nullptr) line_end = Literal(eval, "\n");
  if (options.width <= 0) return InvalidArgument("invalid width {} (must be > 0)", options.width);
  StringBuilder builder(eval.heap());
  bool first = true;
  for (const Str& paragraph : SplitLines(*self.str(), false, eval.heap())) {
    if (!first) builder.Append(*line_end);
    first = false;
    const std::vector<Str> lines = WrapLines(paragraph, options, eval.heap());
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) builder.Append(*line_end);
      builder.Append(lines[i]);
    }
    if (eval.heap().exhausted()) return eval.heap().status();
  }
  return Value(builder.Finish());
}

constexpr Builtin kLayoutFilters[] = {
    {"center", "width", 0, Center},
    {"indent", "width,first,blank", 0, Indent},
    {"truncate", "length,killwords,end,leeway", 0, Truncate},
    {"wordwrap", "width,break_long_words,wrapstring,break_on_hyphens", 0, WordWrap},
};

}  // namespace

std::span<const Builtin> LayoutFilters() { return kLayoutFilters; }

}  // namespace adit::chat
