#include <algorithm>

#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/container.h"
#include "chat/string_ops.h"
#include "chat/text.h"

// Methods of strings that look for a part.
namespace adit::chat {
namespace {

// The stretch of a string that optional bounds, the arguments from `first` on, select.
struct Window {
  size_t begin = 0;
  size_t end = 0;
  bool valid = true;  // false if it begins behind the end of the string
};

Result<Window> WindowOf(const Str& str, const Args& args, size_t first) {
  if (!args.has(first)) return Window{0, str.size, true};
  const int64_t length = CountChars(str);
  ADIT_ASSIGN_OR_RETURN(const SliceRange slice, ResolveSlice(length, args[first], args[first + 1], Value()));
  const bool behind = args[first].is_integral() && args[first].integer() > length;
  return Window{ByteOffset(str, slice.first), ByteOffset(str, slice.first + slice.count), !behind};
}

Result<const Str*> PartArg(const Args& args) {
  if (args[0].is(Kind::kString)) return args[0].str();
  return InvalidArgument("must be str, not {}", TypeName(args[0]));
}

// Where the part begins, in chars, or -1.
Result<int64_t> Position(Evaluator& eval, const Str& str, const Args& args, bool from_right) {
  ADIT_ASSIGN_OR_RETURN(const Str* part, PartArg(args));
  ADIT_ASSIGN_OR_RETURN(const Window window, WindowOf(str, args, 1));
  if (!window.valid) return -1;
  eval.heap().Spend(static_cast<int64_t>(str.size / 64));
  const std::string_view text = str.view().substr(0, window.end);
  const size_t found = from_right ? FindLastText(text, part->view(), window.end, eval.heap())
                                  : FindText(text, part->view(), window.begin);
  if (found == std::string_view::npos || found < window.begin) return -1;
  return CharIndex(str, found);
}

Result<Value> Find(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t position, Position(eval, *self.str(), args, false));
  return Value::Int(position);
}

Result<Value> RFind(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t position, Position(eval, *self.str(), args, true));
  return Value::Int(position);
}

Result<Value> Index(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t position, Position(eval, *self.str(), args, false));
  if (position < 0) return InvalidArgument("substring not found");
  return Value::Int(position);
}

Result<Value> RIndex(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t position, Position(eval, *self.str(), args, true));
  if (position < 0) return InvalidArgument("substring not found");
  return Value::Int(position);
}

Result<Value> Count(Evaluator& eval, const Value& self, const Args& args) {
  const Str& str = *self.str();
  ADIT_ASSIGN_OR_RETURN(const Str* part, PartArg(args));
  ADIT_ASSIGN_OR_RETURN(const Window window, WindowOf(str, args, 1));
  if (!window.valid) return Value::Int(0);
  eval.heap().Spend(static_cast<int64_t>(str.size / 64));
  if (part->size == 0) return Value::Int(CountChars(Sub(str, window.begin, window.end)) + 1);
  const std::string_view text = str.view().substr(0, window.end);
  int64_t count = 0;
  size_t pos = window.begin;
  while ((pos = FindText(text, part->view(), pos)) != std::string_view::npos) {
    ++count;
    pos += part->size;
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  return Value::Int(count);
}

// startswith and endswith: of one string, or of any in a tuple.
Result<Value> HasAffix(const Value& self, const Args& args, bool at_end) {
  const Str& str = *self.str();
  ADIT_ASSIGN_OR_RETURN(const Window window, WindowOf(str, args, 1));
  const bool is_tuple = args[0].is(Kind::kSequence) && args[0].sequence()->is_tuple();
  const std::span<const Value> affixes = is_tuple ? args[0].sequence()->span() : std::span<const Value>(&args[0], 1);
  const std::string_view text = str.view().substr(window.begin, window.end - window.begin);
  for (const Value& affix : affixes) {
    if (!affix.is(Kind::kString)) {
      return InvalidArgument("{} first arg must be str or a tuple of str, not {}", at_end ? "endswith" : "startswith",
                             TypeName(affix));
    }
    const std::string_view part = affix.str()->view();
    if (window.valid && (at_end ? text.ends_with(part) : text.starts_with(part))) return Value::Bool(true);
  }
  return Value::Bool(false);
}

Result<Value> StartsWith(Evaluator&, const Value& self, const Args& args) { return HasAffix(self, args, false); }

Result<Value> EndsWith(Evaluator&, const Value& self, const Args& args) { return HasAffix(self, args, true); }

Result<Value> RemovePrefix(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* part, PartArg(args));
  if (!self.str()->view().starts_with(part->view())) return self;
  return Value(NewSub(eval.heap(), *self.str(), part->size, self.str()->size));
}

Result<Value> RemoveSuffix(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* part, PartArg(args));
  if (!self.str()->view().ends_with(part->view())) return self;
  return Value(NewSub(eval.heap(), *self.str(), 0, self.str()->size - part->size));
}

constexpr Builtin kStringSearchMethods[] = {
    {"find", "_,_,_", 1, Find},         {"rfind", "_,_,_", 1, RFind},           {"index", "_,_,_", 1, Index},
    {"rindex", "_,_,_", 1, RIndex},     {"count", "_,_,_", 1, Count},           {"startswith", "_,_,_", 1, StartsWith},
    {"endswith", "_,_,_", 1, EndsWith}, {"removeprefix", "_", 1, RemovePrefix}, {"removesuffix", "_", 1, RemoveSuffix},
};

}  // namespace

std::span<const Builtin> StringSearchMethods() { return kStringSearchMethods; }

}  // namespace adit::chat
