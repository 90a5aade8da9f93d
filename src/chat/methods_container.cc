#include <bit>
#include <cmath>

#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/compare.h"
#include "chat/container.h"

// Methods of dicts, lists, numbers and of what `for` and cycler make.
namespace adit::chat {
namespace {

Result<Value> Get(Evaluator&, const Value& self, const Args& args) {
  ADIT_RETURN_IF_ERROR(CheckHashable(args[0]));
  const Value* value = FindKey(*self.dict(), args[0]);
  if (value != nullptr) return *value;
  return args.has(1) ? args[1] : Value::None();
}

Value View(Evaluator& eval, const Dict& dict, SequenceType type) {
  Heap& heap = eval.heap();
  Value* items = heap.NewArray<Value>(dict.size);
  for (size_t i = 0; i < dict.size; ++i) {
    const Value pair[2] = {dict.entries[i].key, dict.entries[i].value};
    items[i] = type == SequenceType::kKeys     ? pair[0]
               : type == SequenceType::kValues ? pair[1]
                                               : Value(NewSequence(heap, SequenceType::kTuple, pair));
  }
  heap.Spend(static_cast<int64_t>(dict.size));
  Sequence* view = BorrowSequence(heap, type, {items, dict.size});
  view->untrusted = dict.untrusted;
  return view;
}

Result<Value> Keys(Evaluator& eval, const Value& self, const Args&) {
  return View(eval, *self.dict(), SequenceType::kKeys);
}

Result<Value> Values(Evaluator& eval, const Value& self, const Args&) {
  return View(eval, *self.dict(), SequenceType::kValues);
}

Result<Value> ItemsMethod(Evaluator& eval, const Value& self, const Args&) {
  return View(eval, *self.dict(), SequenceType::kItems);
}

Result<Value> Copy(Evaluator&, const Value& self, const Args&) { return self; }

Result<Value> IndexMethod(Evaluator& eval, const Value& self, const Args& args) {
  const Sequence& sequence = *self.sequence();
  const auto length = static_cast<int64_t>(sequence.size);
  ADIT_ASSIGN_OR_RETURN(const SliceRange range, ResolveSlice(length, args[1], args[2], Value()));
  for (int64_t i = range.first; i < range.first + range.count; ++i) {
    ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(sequence.At(static_cast<size_t>(i)), args[0], eval.heap()));
    if (equal) return Value::Int(i);
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  return InvalidArgument("{}.index(x): x not in {}", TypeName(self), TypeName(self));
}

Result<Value> CountMethod(Evaluator& eval, const Value& self, const Args& args) {
  const Sequence& sequence = *self.sequence();
  int64_t count = 0;
  for (size_t i = 0; i < sequence.size; ++i) {
    ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(sequence.At(i), args[0], eval.heap()));
    if (equal) ++count;
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  return Value::Int(count);
}

uint64_t Magnitude(const Value& self) {
  const int64_t value = self.integer();
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

Result<Value> BitLength(Evaluator&, const Value& self, const Args&) {
  return Value::Int(static_cast<int64_t>(std::bit_width(Magnitude(self))));
}

Result<Value> BitCount(Evaluator&, const Value& self, const Args&) {
  return Value::Int(static_cast<int64_t>(std::popcount(Magnitude(self))));
}

Result<Value> IsInteger(Evaluator&, const Value& self, const Args&) {
  return Value::Bool(std::isfinite(self.real()) && self.real() == std::trunc(self.real()));
}

Result<Value> Cycle(Evaluator&, const Value& self, const Args& args) {
  const std::span<const Value> items = args.raw.positional;
  if (items.empty()) return InvalidArgument("no items for cycling given");
  return items[static_cast<size_t>(self.loop()->index0) % items.size()];
}

Result<Value> Changed(Evaluator& eval, const Value& self, const Args& args) {
  Loop& loop = *self.loop();
  const Value now = BorrowSequence(eval.heap(), SequenceType::kTuple, args.raw.positional);
  ADIT_ASSIGN_OR_RETURN(const bool same, Equal(loop.changed, now, eval.heap()));
  loop.changed = now;
  return Value::Bool(!same);
}

Result<Value> NextMethod(Evaluator&, const Value& self, const Args&) {
  Cycler& cycler = *self.cycler();
  const Value item = cycler.items[cycler.position];
  cycler.position = (cycler.position + 1) % cycler.items.size();
  return item;
}

Result<Value> Reset(Evaluator&, const Value& self, const Args&) {
  self.cycler()->position = 0;
  return Value::None();
}

constexpr Builtin kDictMethods[] = {
    {"get", "_,_", 1, Get},        {"keys", "", 0, Keys}, {"values", "", 0, Values},
    {"items", "", 0, ItemsMethod}, {"copy", "", 0, Copy},
};
constexpr Builtin kListMethods[] = {
    {"index", "_,_,_", 1, IndexMethod},
    {"count", "_", 1, CountMethod},
    {"copy", "", 0, Copy},
};
constexpr Builtin kIntMethods[] = {
    {"bit_length", "", 0, BitLength},
    {"bit_count", "", 0, BitCount},
};
constexpr Builtin kFloatMethods[] = {{"is_integer", "", 0, IsInteger}};
constexpr Builtin kLoopMethods[] = {
    {"cycle", "*", 0, Cycle},
    {"changed", "*", 0, Changed},
};
constexpr Builtin kCyclerMethods[] = {
    {"next", "", 0, NextMethod},
    {"reset", "", 0, Reset},
};

}  // namespace

std::span<const Builtin> DictMethods() { return kDictMethods; }
std::span<const Builtin> ListMethods() { return kListMethods; }
std::span<const Builtin> IntMethods() { return kIntMethods; }
std::span<const Builtin> FloatMethods() { return kFloatMethods; }
std::span<const Builtin> LoopMethods() { return kLoopMethods; }
std::span<const Builtin> CyclerMethods() { return kCyclerMethods; }

}  // namespace adit::chat
