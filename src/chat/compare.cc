#include "chat/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "chat/container.h"
#include "chat/number.h"
#include "chat/to_text.h"
#include "chat/undefined.h"

namespace adit::chat {
namespace {

Order FromSign(int sign) { return sign < 0 ? Order::kLess : sign > 0 ? Order::kGreater : Order::kEqual; }

Order Reversed(Order order) {
  return order == Order::kLess ? Order::kGreater : order == Order::kGreater ? Order::kLess : order;
}

Order CompareFloats(double left, double right) {
  if (std::isnan(left) || std::isnan(right)) return Order::kUnordered;
  return FromSign((left > right) - (left < right));
}

// Integers of any size, as decimal digits with a sign.
Order CompareDigits(std::string_view left, std::string_view right) {
  const bool left_negative = left.starts_with('-');
  const bool right_negative = right.starts_with('-');
  if (left_negative != right_negative) return left_negative ? Order::kLess : Order::kGreater;
  int sign = left.size() == right.size() ? left.compare(right) : left.size() < right.size() ? -1 : 1;
  if (left_negative) sign = -sign;
  return FromSign(sign);
}

// A double that reaches an integer beyond 64 bits has no fraction.
Order CompareBigWithFloat(std::string_view digits, double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? Order::kUnordered : FromSign(value > 0 ? -1 : 1);
  return CompareDigits(digits, fmt::format("{:.0f}", value));
}

Order CompareNumbers(const Value& left, const Value& right) {
  const bool big = left.is(Kind::kBigInt) || right.is(Kind::kBigInt);
  if (left.is(Kind::kFloat) && right.is(Kind::kFloat)) return CompareFloats(left.real(), right.real());
  if (left.is(Kind::kFloat)) return Reversed(CompareNumbers(right, left));
  if (right.is(Kind::kFloat)) {
    if (big) return CompareBigWithFloat(left.str()->view(), right.real());
    const int sign = CompareIntFloat(left.integer(), right.real());
    return sign == 2 ? Order::kUnordered : FromSign(sign);
  }
  if (big) {
    const auto digits = [](const Value& v) { return v.is(Kind::kBool) ? std::to_string(v.integer()) : ScalarText(v); };
    return CompareDigits(digits(left), digits(right));
  }
  return FromSign((left.integer() > right.integer()) - (left.integer() < right.integer()));
}

bool AreComparableSequences(const Value& left, const Value& right) {
  if (!left.is(Kind::kSequence) || !right.is(Kind::kSequence)) return false;
  const Sequence& a = *left.sequence();
  const Sequence& b = *right.sequence();
  return (a.is_tuple() && b.is_tuple()) || (a.type == SequenceType::kList && b.type == SequenceType::kList);
}

// Compares nested values; `depth` guards the stack.
class Comparer {
 public:
  explicit Comparer(Heap& heap) : heap_(heap) {}

  Result<bool> Equal(const Value& left, const Value& right);
  Result<Order> Compare(const Value& left, const Value& right, std::string_view op);

 private:
  Result<bool> EqualSequences(const Sequence& left, const Sequence& right);
  Result<bool> EqualSets(const Sequence& left, const Sequence& right);
  Result<bool> EqualDicts(const Dict& left, const Dict& right);
  Status Enter();

  Heap& heap_;
  int depth_ = 0;
};

Status Comparer::Enter() {
  if (!heap_.Spend(1)) return heap_.status();
  if (depth_ >= kMaxNesting) return ResourceExhausted("a value nested deeper than {} levels is compared", kMaxNesting);
  return Status();
}

Result<bool> Comparer::Equal(const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return CompareNumbers(left, right) == Order::kEqual;
  if (left.kind() != right.kind()) return false;
  ADIT_RETURN_IF_ERROR(Enter());
  switch (left.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kString:
      heap_.Spend(static_cast<int64_t>(left.str()->size / 64));
      return left.str()->view() == right.str()->view();
    case Kind::kSequence:
      return EqualSequences(*left.sequence(), *right.sequence());
    case Kind::kDict:
      return EqualDicts(*left.dict(), *right.dict());
    case Kind::kFunction:
      return left.function()->builtin == right.function()->builtin && left.object() == right.object();
    default:
      return left.object() == right.object();
  }
}

Result<bool> Comparer::EqualSequences(const Sequence& left, const Sequence& right) {
  if (&left == &right) return true;
  const auto is_set = [](const Sequence& s) { return s.type == SequenceType::kKeys || s.type == SequenceType::kItems; };
  if (is_set(left) && is_set(right)) return EqualSets(left, right);
  const bool comparable = AreComparableSequences(&left, &right) ||
                          (left.type == SequenceType::kRange && right.type == SequenceType::kRange);
  if (!comparable || left.size != right.size) return false;
  ++depth_;
  for (size_t i = 0; i < left.size; ++i) {
    ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(left.At(i), right.At(i)));
    if (!equal) {
      --depth_;
      return false;
    }
  }
  --depth_;
  return true;
}

Result<bool> Comparer::EqualSets(const Sequence& left, const Sequence& right) {
  if (left.size != right.size) return false;
  for (const Value& item : left.span()) {
    bool found = false;
    for (size_t i = 0; i < right.size && !found; ++i) {
      ADIT_ASSIGN_OR_RETURN(found, Equal(item, right.items[i]));
    }
    if (!found) return false;
  }
  return true;
}

Result<bool> Comparer::EqualDicts(const Dict& left, const Dict& right) {
  if (&left == &right) return true;
  if (left.size != right.size) return false;
  ++depth_;
  for (const DictEntry& entry : left.span()) {
    const Value* other = FindKey(right, entry.key);
    bool equal = false;
    if (other != nullptr) {
      ADIT_ASSIGN_OR_RETURN(equal, Equal(entry.value, *other));
    }
    if (!equal) {
      --depth_;
      return false;
    }
  }
  --depth_;
  return true;
}

Result<Order> Comparer::Compare(const Value& left, const Value& right, std::string_view op) {
  if (left.is_number() && right.is_number()) return CompareNumbers(left, right);
  ADIT_RETURN_IF_ERROR(Enter());
  if (left.is(Kind::kString) && right.is(Kind::kString)) {
    heap_.Spend(static_cast<int64_t>(std::min(left.str()->size, right.str()->size) / 64));
    return FromSign(left.str()->view().compare(right.str()->view()));
  }
  if (AreComparableSequences(left, right)) {
    const std::span<const Value> a = left.sequence()->span();
    const std::span<const Value> b = right.sequence()->span();
    ++depth_;
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(a[i], b[i]));
      if (!equal) return Compare(a[i], b[i], op);
    }
    --depth_;
    return FromSign((a.size() > b.size()) - (a.size() < b.size()));
  }
  if (left.is(Kind::kUndefined)) return UndefinedError(left);
  if (right.is(Kind::kUndefined)) return UndefinedError(right);
  return InvalidArgument("'{}' not supported between instances of '{}' and '{}'", op, TypeName(left), TypeName(right));
}

}  // namespace

Result<bool> Equal(const Value& left, const Value& right, Heap& heap) { return Comparer(heap).Equal(left, right); }

Result<Order> Compare(const Value& left, const Value& right, std::string_view op, Heap& heap) {
  return Comparer(heap).Compare(left, right, op);
}

Result<bool> Contains(const Value& container, const Value& item, Heap& heap) {
  if (container.is(Kind::kString)) {
    if (!item.is(Kind::kString)) {
      return InvalidArgument("'in <string>' requires string as left operand, not {}", TypeName(item));
    }
    const Str& text = *container.str();
    const Str& part = *item.str();
    heap.Spend(static_cast<int64_t>(text.size / 64));
    return memmem(text.data, text.size, part.data, part.size) != nullptr;
  }
  if (container.is(Kind::kDict)) {
    ADIT_RETURN_IF_ERROR(CheckHashable(item));
    return FindKey(*container.dict(), item) != nullptr;
  }
  Result<Iteration> items = Iteration::Over(container, heap);
  if (!items.ok()) return InvalidArgument("argument of type '{}' is not iterable", TypeName(container));
  Value candidate;
  while (items->Next(&candidate)) {
    ADIT_ASSIGN_OR_RETURN(const bool equal, Equal(candidate, item, heap));
    if (equal) return true;
    if (!heap.Spend(1)) return heap.status();
  }
  return false;
}

Status SortByKey(std::vector<Keyed>& items, bool reverse, Heap& heap) {
  if (!heap.Reserve(items.size() * sizeof(Keyed))) return heap.status();
  std::vector<Keyed> merged(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t left = begin;
      const size_t left_end = std::min(begin + width, items.size());
      size_t right = left_end;
      const size_t right_end = std::min(begin + 2 * width, items.size());
      for (size_t out = begin; out < right_end; ++out) {
        bool take_right = left == left_end;
        if (!take_right && right < right_end) {
          // Only a strict order moves an item before an earlier one: equal keys keep their places.
          const Value& later = items[right].key;
          const Value& earlier = items[left].key;
          ADIT_ASSIGN_OR_RETURN(const Order order, Compare(later, earlier, "<", heap));
          take_right = order == (reverse ? Order::kGreater : Order::kLess);
        }
        merged[out] = items[take_right ? right++ : left++];
      }
    }
    items.swap(merged);
  }
  return Status();
}

}  // namespace adit::chat
