#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/container.h"
#include "chat/operators.h"
#include "chat/string_ops.h"
#include "chat/text.h"

// Methods of strings that cut them up or put them together.
namespace adit::chat {
namespace {

// A strip goes by its own argument where it has one, even an empty string.
Result<Value> StripBy(Evaluator& eval, const Value& self, const Args& args, StripSides sides) {
  ADIT_ASSIGN_OR_RETURN(const Str* chars, StrArg(args, 0, "chars"));
  return Value(chat::Strip(*self.str(), chars, sides, eval.heap()));
}

Result<Value> StripMethod(Evaluator& eval, const Value& self, const Args& args) {
  return StripBy(eval, self, args, {.left = true, .right = true});
}

Result<Value> LStrip(Evaluator& eval, const Value& self, const Args& args) {
  return StripBy(eval, self, args, {.left = true, .right = false});
}

Result<Value> RStrip(Evaluator& eval, const Value& self, const Args& args) {
  return StripBy(eval, self, args, {.left = false, .right = true});
}

Result<Value> SplitBy(Evaluator& eval, const Value& self, const Args& args, bool from_right) {
  ADIT_ASSIGN_OR_RETURN(const Str* separator, StrArg(args, 0, "sep"));
  ADIT_ASSIGN_OR_RETURN(const int64_t max_splits, IntArg(args, 1, -1, "maxsplit"));
  if (separator != nullptr && separator->size == 0) return InvalidArgument("empty separator");
  const Str& str = *self.str();
  return ListOfStrings(eval, chat::Split(str, separator, max_splits, from_right, eval.heap()), str.markup);
}

Result<Value> SplitMethod(Evaluator& eval, const Value& self, const Args& args) {
  return SplitBy(eval, self, args, false);
}

Result<Value> RSplit(Evaluator& eval, const Value& self, const Args& args) { return SplitBy(eval, self, args, true); }

Result<Value> SplitLinesMethod(Evaluator& eval, const Value& self, const Args& args) {
  const Str& str = *self.str();
  return ListOfStrings(eval, SplitLines(str, BoolArg(args, 0, false), eval.heap()), str.markup);
}

// (before, separator, after) at the first or last separator; the whole at the front or back if there is none.
Result<Value> PartitionBy(Evaluator& eval, const Value& self, const Args& args, bool from_right) {
  ADIT_ASSIGN_OR_RETURN(const Str* separator, StrArg(args, 0, "sep"));
  if (separator == nullptr) return InvalidArgument("must be str, not NoneType");
  if (separator->size == 0) return InvalidArgument("empty separator");
  Heap& heap = eval.heap();
  const Str& str = *self.str();
  const size_t found = from_right ? FindLastText(str.view(), separator->view(), str.size, heap)
                                  : FindText(str.view(), separator->view(), 0);
  heap.Spend(static_cast<int64_t>(str.size / 64));
  if (found == std::string_view::npos) {
    const Value empty = WithMarkup(*Literal(eval, ""), str.markup, heap);
    const Value whole[3] = {self, empty, empty};
    const Value whole_last[3] = {empty, empty, self};
    return Value(NewSequence(heap, SequenceType::kTuple, from_right ? whole_last : whole));
  }
  const size_t after = found + separator->size;
  const Value parts[3] = {NewSub(heap, str, 0, found), WithMarkup(*separator, str.markup, heap),
                          NewSub(heap, str, after, str.size)};
  return Value(NewSequence(heap, SequenceType::kTuple, parts));
}

Result<Value> Partition(Evaluator& eval, const Value& self, const Args& args) {
  return PartitionBy(eval, self, args, false);
}

Result<Value> RPartition(Evaluator& eval, const Value& self, const Args& args) {
  return PartitionBy(eval, self, args, true);
}

Result<Value> JoinMethod(Evaluator& eval, const Value& self, const Args& args) {
  Heap& heap = eval.heap();
  const Str& separator = *self.str();
  Result<Iteration> items = Iteration::Over(args[0], heap);
  if (!items.ok()) return InvalidArgument("can only join an iterable");
  StringBuilder builder(heap);
  Value item;
  for (int64_t i = 0; items->Next(&item); ++i) {
    if (!item.is(Kind::kString) && !separator.markup) {
      return InvalidArgument("sequence item {}: expected str instance, {} found", i, TypeName(item));
    }
    ADIT_ASSIGN_OR_RETURN(const Str* text, SoftStr(eval, item));
    if (i > 0) builder.Append(separator);
    builder.Append(separator.markup ? *EscapeHtml(*text, heap) : *text);
    if (!heap.Spend(1)) return heap.status();
  }
  return Value(WithMarkup(*builder.Finish(), separator.markup, heap));
}

Result<Value> ReplaceMethod(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* old, StrArg(args, 0, "old"));
  ADIT_ASSIGN_OR_RETURN(const Str* replacement, StrArg(args, 1, "new"));
  ADIT_ASSIGN_OR_RETURN(const int64_t count, IntArg(args, 2, -1, "count"));
  if (old == nullptr || replacement == nullptr) return InvalidArgument("replace() argument must be str, not None");
  const Str& str = *self.str();
  if (str.markup) replacement = EscapeHtml(*replacement, eval.heap());
  return Value(chat::Replace(str, *old, *replacement, count, eval.heap()));
}

constexpr Builtin kStringSplitMethods[] = {
    {"strip", "_", 0, StripMethod},
    {"lstrip", "_", 0, LStrip},
    {"rstrip", "_", 0, RStrip},
    {"split", "sep,maxsplit", 0, SplitMethod},
    {"rsplit", "sep,maxsplit", 0, RSplit},
    {"splitlines", "keepends", 0, SplitLinesMethod},
    {"partition", "_", 1, Partition},
    {"rpartition", "_", 1, RPartition},
    {"join", "_", 1, JoinMethod},
    {"replace", "_,_,_", 2, ReplaceMethod},
};

}  // namespace

std::span<const Builtin> StringSplitMethods() { return kStringSplitMethods; }

}  // namespace adit::chat
