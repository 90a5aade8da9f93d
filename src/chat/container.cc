#include "chat/container.h"

#include <algorithm>

#include "base/error.h"
#include "chat/string_ops.h"
#include "chat/text.h"

namespace adit::chat {

Sequence* NewSequence(Heap& heap, SequenceType type, std::span<const Value> items) {
  Value* copy = heap.NewArray<Value>(items.size());
  std::ranges::copy(items, copy);
  return BorrowSequence(heap, type, {copy, items.size()});
}

Sequence* BorrowSequence(Heap& heap, SequenceType type, std::span<const Value> items) {
  auto* sequence = heap.New<Sequence>();
  sequence->type = type;
  sequence->items = items.data();
  sequence->size = items.size();
  return sequence;
}

Sequence* NewRange(Heap& heap, int64_t start, int64_t stop, int64_t step) {
  auto* range = heap.New<Sequence>();
  range->type = SequenceType::kRange;
  range->start = start;
  range->stop = stop;
  range->step = step;
  // The distance of two int64 fits uint64, and so does the magnitude of step.
  const bool empty = step > 0 ? start >= stop : start <= stop;
  if (!empty) {
    const uint64_t distance = step > 0 ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                                       : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
    const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
    range->size = (distance - 1) / stride + 1;
  }
  return range;
}

const Value* FindName(const Namespace& ns, std::string_view name) {
  for (size_t i = 0; i < ns.size; ++i) {
    if (ns.entries[i].name->view() == name) return &ns.entries[i].value;
  }
  return nullptr;
}

void SetName(Heap& heap, Namespace& ns, const Str* name, const Value& value) {
  for (size_t i = 0; i < ns.size; ++i) {
    if (ns.entries[i].name->view() == name->view()) {
      ns.entries[i].value = value;
      return;
    }
  }
  if (ns.size == ns.capacity) {
    ns.capacity = std::max<size_t>(8, ns.capacity * 2);
    auto* grown = heap.NewArray<NamespaceEntry>(ns.capacity);
    std::copy_n(ns.entries, ns.size, grown);
    ns.entries = grown;
  }
  ns.entries[ns.size++] = {name, value};
}

Result<Iteration> Iteration::Over(const Value& source, Heap& heap) {
  Iteration iteration;
  iteration.heap_ = &heap;
  iteration.source_ = source;
  switch (source.kind()) {
    case Kind::kUndefined:
      return iteration;
    case Kind::kString:
      iteration.length_ = CountChars(*source.str());
      return iteration;
    case Kind::kDict:
      iteration.length_ = static_cast<int64_t>(source.dict()->size);
      return iteration;
    case Kind::kSequence:
      iteration.has_length_ = source.sequence()->has_length();
      iteration.length_ = static_cast<int64_t>(source.sequence()->size);
      return iteration;
    default:
      return InvalidArgument("'{}' object is not iterable", TypeName(source));
  }
}

bool Iteration::Next(Value* item) {
  switch (source_.kind()) {
    case Kind::kString: {
      const Str& str = *source_.str();
      if (position_ >= str.size) return false;
      const size_t end = position_ + CharLength(str.data[position_]);
      Str* one = CloneStr(*heap_, Sub(str, position_, end));
      one->markup = false;  // as in Python, the chars of markup are plain strings
      *item = one;
      position_ = end;
      return true;
    }
    case Kind::kDict:
      if (position_ >= source_.dict()->size) return false;
      *item = source_.dict()->entries[position_++].key;
      return true;
    case Kind::kSequence: {
      const Sequence& sequence = *source_.sequence();
      size_t& position = sequence.type == SequenceType::kIterator ? sequence.position : position_;
      if (position >= sequence.size) return false;
      *item = sequence.At(position++);
      return true;
    }
    default:
      return false;
  }
}

Result<std::span<const Value>> ItemsOf(const Value& source, Heap& heap) {
  if (source.is(Kind::kSequence)) {
    const Sequence& sequence = *source.sequence();
    if (sequence.type != SequenceType::kRange && sequence.type != SequenceType::kIterator) return sequence.span();
  }
  ADIT_ASSIGN_OR_RETURN(Iteration iteration, Iteration::Over(source, heap));
  return TakeAll(iteration, heap);
}

Result<std::span<const Value>> TakeAll(Iteration& items, Heap& heap) {
  std::vector<Value> taken;
  Value item;
  while (items.Next(&item)) {
    taken.push_back(item);
    if (!heap.Spend(1) || !heap.Reserve(taken.size() * sizeof(Value))) return heap.status();
  }
  Value* copy = heap.NewArray<Value>(taken.size());
  std::ranges::copy(taken, copy);
  return std::span<const Value>(copy, taken.size());
}

namespace {

// A bound of a slice; `fallback` where it is not given.
Result<int64_t> SliceBound(const Value& bound, int64_t fallback) {
  if (bound.is_missing() || bound.is(Kind::kNone)) return fallback;
  if (bound.is_integral()) return bound.integer();
  return InvalidArgument("slice indices must be integers or None, not '{}'", TypeName(bound));
}

// A bound counted from the end if negative, and kept within [low, high].
int64_t ClampBound(int64_t bound, int64_t length, int64_t low, int64_t high) {
  if (bound < 0) bound = bound < -length ? low : bound + length;
  return std::clamp(bound, low, high);
}

// base + factor * step, or the end of 64 bits that it passes.
int64_t Saturated(int64_t base, int64_t factor, int64_t step) {
  int64_t product = 0;
  int64_t sum = 0;
  const int64_t end = (factor < 0) == (step < 0) ? INT64_MAX : INT64_MIN;
  if (__builtin_mul_overflow(factor, step, &product)) return end;
  return __builtin_add_overflow(base, product, &sum) ? end : sum;
}

Value SliceSequence(const Sequence& sequence, const SliceRange& slice, Heap& heap) {
  if (sequence.type == SequenceType::kRange) {
    auto* range = heap.New<Sequence>();
    range->type = SequenceType::kRange;
    range->start = Saturated(sequence.start, slice.first, sequence.step);
    range->stop = Saturated(sequence.start, slice.last, sequence.step);
    range->step = Saturated(0, slice.step, sequence.step);
    range->size = static_cast<size_t>(slice.count);
    return range;
  }
  const SequenceType type = sequence.is_tuple() ? SequenceType::kTuple : SequenceType::kList;
  std::span<const Value> items;
  if (slice.count == 0) {
    items = {};
  } else if (slice.step == 1) {
    items = sequence.span().subspan(static_cast<size_t>(slice.first), static_cast<size_t>(slice.count));
  } else {
    Value* copy = heap.NewArray<Value>(static_cast<size_t>(slice.count));
    for (int64_t i = 0; i < slice.count; ++i) copy[i] = sequence.items[slice.first + i * slice.step];
    items = {copy, static_cast<size_t>(slice.count)};
  }
  Sequence* result = BorrowSequence(heap, type, items);
  result->untrusted = sequence.untrusted;
  return result;
}

Value SliceString(const Str& str, const SliceRange& slice, Heap& heap) {
  if (slice.step == 1) {
    const size_t begin = ByteOffset(str, slice.first);
    const Str rest = Sub(str, begin, str.size);
    return NewSub(heap, str, begin, begin + ByteOffset(rest, slice.count));
  }
  std::vector<size_t> offsets;  // of every char, for the walk in steps
  for (size_t offset = 0; offset < str.size; offset += CharLength(str.data[offset])) offsets.push_back(offset);
  StringBuilder builder(heap);
  for (int64_t i = 0; i < slice.count; ++i) {
    const size_t begin = offsets[static_cast<size_t>(slice.first + i * slice.step)];
    builder.Append(str, begin, begin + CharLength(str.data[begin]));
  }
  return WithMarkup(*builder.Finish(), str.markup, heap);
}

}  // namespace

Result<SliceRange> ResolveSlice(int64_t length, const Value& start, const Value& stop, const Value& step) {
  ADIT_ASSIGN_OR_RETURN(int64_t stride, SliceBound(step, 1));
  if (stride == 0) return InvalidArgument("slice step cannot be zero");
  stride = std::max(stride, -INT64_MAX);
  const bool forward = stride > 0;
  const int64_t low = forward ? 0 : -1;
  const int64_t high = forward ? length : length - 1;
  ADIT_ASSIGN_OR_RETURN(int64_t first, SliceBound(start, forward ? 0 : INT64_MAX));
  ADIT_ASSIGN_OR_RETURN(int64_t last, SliceBound(stop, forward ? INT64_MAX : INT64_MIN));
  first = ClampBound(first, length, low, high);
  last = ClampBound(last, length, low, high);
  const int64_t distance = forward ? last - first : first - last;
  return SliceRange{first, last, distance <= 0 ? 0 : (distance - 1) / std::abs(stride) + 1, stride};
}

Result<Value> SliceOf(const Value& object, const Value& start, const Value& stop, const Value& step, Heap& heap) {
  if (object.is(Kind::kString)) {
    const Str& str = *object.str();
    heap.Spend(static_cast<int64_t>(str.size / 16));
    ADIT_ASSIGN_OR_RETURN(const SliceRange slice, ResolveSlice(CountChars(str), start, stop, step));
    return SliceString(str, slice, heap);
  }
  if (object.is(Kind::kSequence) && object.sequence()->is_subscriptable()) {
    const Sequence& sequence = *object.sequence();
    const auto length = static_cast<int64_t>(sequence.size);
    ADIT_ASSIGN_OR_RETURN(const SliceRange slice, ResolveSlice(length, start, stop, step));
    heap.Spend(slice.step == 1 ? 1 : slice.count);
    return SliceSequence(sequence, slice, heap);
  }
  if (object.is(Kind::kDict)) return InvalidArgument("unhashable type: 'slice'");
  return InvalidArgument("'{}' object is not subscriptable", TypeName(object));
}

}  // namespace adit::chat
