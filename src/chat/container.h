#ifndef ADIT_CHAT_CONTAINER_H_
#define ADIT_CHAT_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/value.h"

// Making, reading and walking through lists, tuples and dicts.
namespace adit::chat {

Sequence* NewSequence(Heap& heap, SequenceType type, std::span<const Value> items);
// The same without a copy: `items` lives in the heap.
Sequence* BorrowSequence(Heap& heap, SequenceType type, std::span<const Value> items);
// range(start, stop, step). Precondition: step is not 0.
Sequence* NewRange(Heap& heap, int64_t start, int64_t stop, int64_t step);

// InvalidArgument unless `key` can be the key of a dict: no list or dict, also not inside a tuple. ResourceExhausted
// for a tuple with more than a thousand items in all.
Status CheckHashable(const Value& key);

// The value at `key`, or null. Precondition: key is hashable.
const Value* FindKey(const Dict& dict, const Value& key);
const Value* FindKey(const Dict& dict, std::string_view key);

// A later entry replaces the value of an earlier one with the same key and keeps its place.
// Precondition: all keys are hashable. Entries are copied into the heap.
Dict* NewDict(Heap& heap, std::span<const DictEntry> entries);

const Value* FindName(const Namespace& ns, std::string_view name);
void SetName(Heap& heap, Namespace& ns, const Str* name, const Value& value);

// Takes the items of anything that `for` walks through: sequences, the keys of a dict, the chars of a string, nothing
// of an undefined value.
class Iteration {
 public:
  // InvalidArgument for what has no items.
  static Result<Iteration> Over(const Value& source, Heap& heap);
  Iteration() = default;

  // False at the end.
  bool Next(Value* item);
  // Whether the number of all items is known, and it.
  bool has_length() const { return has_length_; }
  int64_t length() const { return length_; }

 private:
  Heap* heap_ = nullptr;
  Value source_;
  size_t position_ = 0;  // item, or byte of a string
  bool has_length_ = true;
  int64_t length_ = 0;
};

// All items; those of a list or tuple are not copied.
Result<std::span<const Value>> ItemsOf(const Value& source, Heap& heap);
// Takes all that is left.
Result<std::span<const Value>> TakeAll(Iteration& items, Heap& heap);

// What a[start:stop:step] selects of `length` items: `count` of them, from `first` on, `step` apart, before `last`.
struct SliceRange {
  int64_t first = 0;
  int64_t last = 0;
  int64_t count = 0;
  int64_t step = 1;
};
// A bound is None, missing or an integer; step is not 0.
Result<SliceRange> ResolveSlice(int64_t length, const Value& start, const Value& stop, const Value& step);
Result<Value> SliceOf(const Value& object, const Value& start, const Value& stop, const Value& step, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_CONTAINER_H_
