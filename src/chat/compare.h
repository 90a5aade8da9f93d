#ifndef ADIT_CHAT_COMPARE_H_
#define ADIT_CHAT_COMPARE_H_

#include <string_view>
#include <vector>

#include "adit/status.h"
#include "chat/heap.h"
#include "chat/value.h"

// Python's ==, <, `in` and sorted().
namespace adit::chat {

enum class Order { kLess, kEqual, kGreater, kUnordered };  // unordered: a nan

// Fails only at limits.
Result<bool> Equal(const Value& left, const Value& right, Heap& heap);

// Numbers, strings, and lists or tuples item by item; InvalidArgument for anything else, naming the operator `op`.
Result<Order> Compare(const Value& left, const Value& right, std::string_view op, Heap& heap);

// Whether `item` is in `container`; takes from an iterator what it looks at.
Result<bool> Contains(const Value& container, const Value& item, Heap& heap);

struct Keyed {
  Value key;
  Value item;
};

// Stable, ascending by key or, in reverse, descending.
Status SortByKey(std::vector<Keyed>& items, bool reverse, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_COMPARE_H_
