#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/error.h"
#include "chat/compare.h"
#include "chat/container.h"
#include "chat/to_text.h"

namespace adit::chat {
namespace {

// Up to this size a scan is as fast as a search.
constexpr size_t kScanSize = 8;
// Items of a key in all: bounds the time to compare two keys, since tuples may share parts.
constexpr int kMaxKeyItems = 1000;

// A total order over hashable values in which equal keys, and only they, are equivalent: 1, 1.0 and True are one key.
// First by rank, numbers by value, nan last, strings by bytes, tuples by items, the rest by identity.
int Rank(const Value& key) {
  switch (key.kind()) {
    case Kind::kNone:
      return 0;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
      return 1;
    case Kind::kFloat:
      return std::isnan(key.real()) ? 2 : 1;
    case Kind::kString:
      return 3;
    case Kind::kSequence:
      return key.sequence()->is_tuple() ? 4 : 5;
    case Kind::kUndefined:
      return 6;
    default:
      return 5;
  }
}

int CompareKeys(const Value& left, const Value& right);

int CompareNumberKeys(const Value& left, const Value& right) {
  if (left.is_integral() && right.is_integral()) {
    return (left.integer() > right.integer()) - (left.integer() < right.integer());
  }
  Heap unlimited({});
  const Result<Order> order = Compare(left, right, "<", unlimited);
  return !order.ok() || *order == Order::kEqual ? 0 : *order == Order::kLess ? -1 : 1;
}

int CompareTupleKeys(std::span<const Value> left, std::span<const Value> right) {
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const int order = CompareKeys(left[i], right[i]); order != 0) return order;
  }
  return (left.size() > right.size()) - (left.size() < right.size());
}

int CompareKeys(const Value& left, const Value& right) {
  const int left_rank = Rank(left);
  const int right_rank = Rank(right);
  if (left_rank != right_rank) return left_rank < right_rank ? -1 : 1;
  switch (left_rank) {
    case 1:
      return CompareNumberKeys(left, right);
    case 3:
      return left.str()->view().compare(right.str()->view());
    case 4:
      return CompareTupleKeys(left.sequence()->span(), right.sequence()->span());
    case 5: {
      const std::less<const void*> before;
      return before(left.object(), right.object()) ? -1 : before(right.object(), left.object()) ? 1 : 0;
    }
    default:
      return 0;
  }
}

Status CheckHashableAt(const Value& key, int depth, int* num_items) {
  if (depth >= kMaxNesting || ++*num_items > kMaxKeyItems) {
    return ResourceExhausted("a key of a dict with more than {} items or {} levels", kMaxKeyItems, kMaxNesting);
  }
  if (key.is(Kind::kDict)) return InvalidArgument("unhashable type: 'dict'");
  if (!key.is(Kind::kSequence)) return Status();
  const Sequence& sequence = *key.sequence();
  const bool hashable =
      sequence.is_tuple() || sequence.type == SequenceType::kRange || sequence.type == SequenceType::kIterator;
  if (!hashable) return InvalidArgument("unhashable type: '{}'", TypeName(key));
  if (!sequence.is_tuple()) return Status();
  for (const Value& item : sequence.span()) ADIT_RETURN_IF_ERROR(CheckHashableAt(item, depth + 1, num_items));
  return Status();
}

bool HasDuplicates(std::span<const DictEntry> entries) {
  for (size_t i = 1; i < entries.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (CompareKeys(entries[i].key, entries[k].key) == 0) return true;
    }
  }
  return false;
}

// Indices of `entries` by key, equal keys in the order of the entries.
std::vector<uint32_t> SortedIndices(std::span<const DictEntry> entries) {
  std::vector<uint32_t> order(entries.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order,
                           [&](uint32_t a, uint32_t b) { return CompareKeys(entries[a].key, entries[b].key) < 0; });
  return order;
}

// Entries with unique keys: each at the place of its key's first entry, with the value of the last.
std::vector<DictEntry> Unique(std::span<const DictEntry> entries) {
  std::vector<DictEntry> kept(entries.begin(), entries.end());
  if (entries.size() <= kScanSize && !HasDuplicates(entries)) return kept;
  std::vector<bool> dropped(entries.size(), false);
  const std::vector<uint32_t> order = SortedIndices(entries);
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && CompareKeys(entries[order[begin]].key, entries[order[end]].key) == 0) {
      dropped[order[end++]] = true;
    }
    kept[order[begin]].value = entries[order[end - 1]].value;
    begin = end;
  }
  std::vector<DictEntry> unique;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!dropped[i]) unique.push_back(kept[i]);
  }
  return unique;
}

}  // namespace

Status CheckHashable(const Value& key) {
  int num_items = 0;
  return CheckHashableAt(key, 0, &num_items);
}

const Value* FindKey(const Dict& dict, const Value& key) {
  if (dict.order == nullptr) {
    for (const DictEntry& entry : dict.span()) {
      if (CompareKeys(entry.key, key) == 0) return &entry.value;
    }
    return nullptr;
  }
  const std::span<const uint32_t> order(dict.order, dict.size);
  const auto found = std::ranges::lower_bound(
      order, key, [](const Value& a, const Value& b) { return CompareKeys(a, b) < 0; },
      [&](uint32_t index) { return dict.entries[index].key; });
  if (found == order.end() || CompareKeys(dict.entries[*found].key, key) != 0) return nullptr;
  return &dict.entries[*found].value;
}

const Value* FindKey(const Dict& dict, std::string_view key) {
  Str str;
  str.data = key.data();
  str.size = key.size();
  return FindKey(dict, Value(&str));
}

Dict* NewDict(Heap& heap, std::span<const DictEntry> entries) {
  const std::vector<DictEntry> unique = Unique(entries);
  auto* copy = heap.NewArray<DictEntry>(unique.size());
  std::ranges::copy(unique, copy);
  auto* dict = heap.New<Dict>();
  dict->entries = copy;
  dict->size = unique.size();
  heap.Spend(static_cast<int64_t>(entries.size()) * std::bit_width(entries.size()));
  if (dict->size > kScanSize) {
    auto* order = heap.NewArray<uint32_t>(dict->size);
    std::ranges::copy(SortedIndices(unique), order);
    dict->order = order;
  }
  return dict;
}

}  // namespace adit::chat
