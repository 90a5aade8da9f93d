#include <algorithm>

#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/compare.h"
#include "chat/container.h"
#include "chat/operators.h"
#include "chat/text.h"
#include "chat/to_text.h"
#include "chat/undefined.h"

// Filters that take items one by one and give items. What is lazy in Jinja is computed at once here, but still read
// once only.
namespace adit::chat {
namespace {

Value NewIterator(Evaluator& eval, std::span<const Value> items) {
  return NewSequence(eval.heap(), SequenceType::kIterator, items);
}

Value NewList(Evaluator& eval, std::span<const Value> items) {
  return NewSequence(eval.heap(), SequenceType::kList, items);
}

Result<Value> Length(Evaluator& eval, const Value& self, const Args&) {
  if (self.is(Kind::kLoop)) {
    ADIT_ASSIGN_OR_RETURN(const int64_t length, eval.LengthOf(*self.loop()));
    return Value::Int(length);
  }
  const Result<Iteration> items = Iteration::Over(self, eval.heap());
  if (!items.ok() || !items->has_length()) return InvalidArgument("object of type '{}' has no len()", TypeName(self));
  return Value::Int(items->length());
}

Result<Value> List(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  return Value(BorrowSequence(eval.heap(), SequenceType::kList, items));
}

Result<Value> First(Evaluator& eval, const Value& self, const Args&) {
  ADIT_ASSIGN_OR_RETURN(Iteration items, Iteration::Over(self, eval.heap()));
  Value item;
  if (items.Next(&item)) return item;
  return UndefinedBecause(eval.heap(), "No first item, sequence was empty.");
}

// Whether reversed() takes the value: an iterator has no end to begin from.
bool IsReversible(const Value& value) {
  return value.is(Kind::kString) || value.is(Kind::kDict) || value.is(Kind::kUndefined) ||
         (value.is(Kind::kSequence) && value.sequence()->type != SequenceType::kIterator);
}

Result<Value> Last(Evaluator& eval, const Value& self, const Args&) {
  if (!IsReversible(self)) return InvalidArgument("'{}' object is not reversible", TypeName(self));
  if (self.is(Kind::kString) && self.str()->size > 0) {
    const Str& str = *self.str();
    return Value(NewSub(eval.heap(), str, PreviousChar(str.view(), str.size), str.size));
  }
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  if (items.empty()) return UndefinedBecause(eval.heap(), "No last item, sequence was empty.");
  return items.back();
}

Result<Value> Reverse(Evaluator& eval, const Value& self, const Args&) {
  if (self.is(Kind::kString)) return SliceOf(self, Value(), Value(), Value::Int(-1), eval.heap());
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  std::vector<Value> reversed(items.rbegin(), items.rend());
  return IsReversible(self) ? NewIterator(eval, reversed) : NewList(eval, reversed);
}

Result<Value> Items(Evaluator& eval, const Value& self, const Args&) {
  if (self.is(Kind::kUndefined)) return NewIterator(eval, {});
  if (!self.is(Kind::kDict)) return InvalidArgument("Can only get item pairs from a mapping.");
  std::vector<Value> pairs;
  for (const DictEntry& entry : self.dict()->span()) {
    const Value pair[2] = {entry.key, entry.value};
    pairs.emplace_back(NewSequence(eval.heap(), SequenceType::kTuple, pair));
  }
  return NewIterator(eval, pairs);
}

Result<Value> Join(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* separator,
                        args.has(0) ? SoftStr(eval, args[0]) : Result<const Str*>(Literal(eval, "")));
  const AttributePath path = AttributePath::Parse(eval, args[1]);
  ADIT_ASSIGN_OR_RETURN(Iteration items, Iteration::Over(self, eval.heap()));
  StringBuilder builder(eval.heap());
  bool first = true;
  Value item;
  while (items.Next(&item)) {
    if (!first) builder.Append(*separator);
    first = false;
    ADIT_ASSIGN_OR_RETURN(const Value member, path.Get(eval, item, Value()));
    ADIT_RETURN_IF_ERROR(AppendText(member, builder, eval.heap()));
  }
  return Value(builder.Finish());
}

Result<Value> Batch(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t size, IntArg(args, 0, 0, "linecount"));
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  std::vector<Value> batches;
  std::vector<Value> batch;
  for (const Value& item : items) {
    if (static_cast<int64_t>(batch.size()) == size) {
      batches.push_back(NewList(eval, batch));
      batch.clear();
    }
    batch.push_back(item);
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  const bool fills = args.has(1) && !args[1].is(Kind::kNone) && size > static_cast<int64_t>(batch.size());
  if (!batch.empty() && fills) {
    if (!eval.heap().Reserve(static_cast<size_t>(std::min<int64_t>(size, INT64_MAX / 32)) * sizeof(Value))) {
      return eval.heap().status();
    }
    batch.resize(static_cast<size_t>(size), args[1]);
  }
  if (!batch.empty()) batches.push_back(NewList(eval, batch));
  return NewIterator(eval, batches);
}

Result<Value> Slice(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const int64_t slices, IntArg(args, 0, 0, "slices"));
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  if (slices == 0) return InvalidArgument("integer division or modulo by zero");
  const bool fills = args.has(1) && !args[1].is(Kind::kNone);
  const auto length = static_cast<int64_t>(items.size());
  const int64_t per_slice = slices < 0 ? 0 : length / slices;
  const int64_t with_extra = slices < 0 ? 0 : length % slices;
  std::vector<Value> columns;
  int64_t begin = 0;
  for (int64_t i = 0; i < slices; ++i) {
    const int64_t size = per_slice + (i < with_extra ? 1 : 0);
    const auto part = items.subspan(static_cast<size_t>(begin), static_cast<size_t>(size));
    std::vector<Value> column(part.begin(), part.end());
    if (fills && i >= with_extra) column.push_back(args[1]);
    columns.push_back(NewList(eval, column));
    begin += size;
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  return NewIterator(eval, columns);
}

// The values of the attributes "a,b.c" as a list, also of a single one: lists compare equal items by nothing more.
Result<Value> SortKey(Evaluator& eval, const std::vector<AttributePath>& paths, const Value& item,
                      bool case_sensitive) {
  std::vector<Value> parts;
  for (const AttributePath& path : paths) {
    ADIT_ASSIGN_OR_RETURN(const Value part, path.Get(eval, item, Value()));
    parts.push_back(case_sensitive ? part : IgnoreCase(eval, part));
  }
  return NewList(eval, parts);
}

std::vector<AttributePath> SortPaths(Evaluator& eval, const Value& attribute) {
  if (!attribute.is(Kind::kString)) return {AttributePath::Parse(eval, attribute)};
  std::vector<AttributePath> paths;
  const Str& text = *attribute.str();
  size_t begin = 0;
  for (size_t i = 0; i <= text.size; ++i) {
    if (i < text.size && text.data[i] != ',') continue;
    paths.push_back(AttributePath::Parse(eval, NewSub(eval.heap(), text, begin, i)));
    begin = i + 1;
  }
  return paths;
}

Result<Value> Sorted(Evaluator& eval, std::vector<Keyed> keyed, bool reverse) {
  ADIT_RETURN_IF_ERROR(SortByKey(keyed, reverse, eval.heap()));
  Value* items = eval.heap().NewArray<Value>(keyed.size());
  for (size_t i = 0; i < keyed.size(); ++i) items[i] = keyed[i].item;
  return Value(BorrowSequence(eval.heap(), SequenceType::kList, {items, keyed.size()}));
}

Result<Value> Sort(Evaluator& eval, const Value& self, const Args& args) {
  const bool case_sensitive = BoolArg(args, 1, false);
  const std::vector<AttributePath> paths = SortPaths(eval, args[2]);
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    ADIT_ASSIGN_OR_RETURN(const Value key, SortKey(eval, paths, item, case_sensitive));
    keyed.push_back({key, item});
  }
  return Sorted(eval, std::move(keyed), BoolArg(args, 0, false));
}

Result<Value> DictSort(Evaluator& eval, const Value& self, const Args& args) {
  const bool case_sensitive = BoolArg(args, 0, false);
  ADIT_ASSIGN_OR_RETURN(const Str* by, StrArg(args, 1, "by"));
  const std::string_view side = by == nullptr ? "key" : by->view();
  if (side != "key" && side != "value") return InvalidArgument("You can only sort by either \"key\" or \"value\"");
  if (self.is(Kind::kUndefined)) return UndefinedError(self);
  if (!self.is(Kind::kDict)) return InvalidArgument("'{}' object has no attribute 'items'", TypeName(self));
  std::vector<Keyed> keyed;
  for (const DictEntry& entry : self.dict()->span()) {
    const Value pair[2] = {entry.key, entry.value};
    const Value& key = pair[side == "key" ? 0 : 1];
    keyed.push_back(
        {case_sensitive ? key : IgnoreCase(eval, key), NewSequence(eval.heap(), SequenceType::kTuple, pair)});
  }
  return Sorted(eval, std::move(keyed), BoolArg(args, 2, false));
}

constexpr Builtin kSequenceFilters[] = {
    {"length", "", 0, Length},
    {"count", "", 0, Length},
    {"list", "", 0, List},
    {"first", "", 0, First},
    {"last", "", 0, Last},
    {"reverse", "", 0, Reverse},
    {"items", "", 0, Items},
    {"join", "d,attribute", 0, Join},
    {"batch", "linecount,fill_with", 1, Batch},
    {"slice", "slices,fill_with", 1, Slice},
    {"sort", "reverse,case_sensitive,attribute", 0, Sort},
    {"dictsort", "case_sensitive,by,reverse", 0, DictSort},
};

}  // namespace

std::span<const Builtin> SequenceFilters() { return kSequenceFilters; }

}  // namespace adit::chat
