#include <vector>

#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/compare.h"
#include "chat/container.h"
#include "chat/operators.h"
#include "chat/undefined.h"

// Filters that compare or add up the items of a sequence.
namespace adit::chat {
namespace {

// Items with the attribute they are compared by.
Result<std::vector<Keyed>> KeyedItems(Evaluator& eval, const Value& self, const Value& attribute, const Value& fallback,
                                      bool case_sensitive) {
  const AttributePath path = AttributePath::Parse(eval, attribute);
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  if (!eval.heap().Reserve(items.size() * sizeof(Keyed))) return eval.heap().status();
  std::vector<Keyed> keyed;
  for (const Value& item : items) {
    ADIT_ASSIGN_OR_RETURN(const Value key, path.Get(eval, item, fallback));
    keyed.push_back({case_sensitive ? key : IgnoreCase(eval, key), item});
  }
  return keyed;
}

// The first of the items with the smallest or largest key.
Result<Value> Extreme(Evaluator& eval, const Value& self, const Args& args, Order wanted) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<Keyed> keyed,
                        KeyedItems(eval, self, args[1], Value(), BoolArg(args, 0, false)));
  if (keyed.empty()) return UndefinedBecause(eval.heap(), "No aggregated item, sequence was empty.");
  const Keyed* best = &keyed.front();
  for (size_t i = 1; i < keyed.size(); ++i) {
    const char* op = wanted == Order::kLess ? "<" : ">";
    ADIT_ASSIGN_OR_RETURN(const Order order, Compare(keyed[i].key, best->key, op, eval.heap()));
    if (order == wanted) best = &keyed[i];
  }
  return best->item;
}

Result<Value> Min(Evaluator& eval, const Value& self, const Args& args) {
  return Extreme(eval, self, args, Order::kLess);
}

Result<Value> Max(Evaluator& eval, const Value& self, const Args& args) {
  return Extreme(eval, self, args, Order::kGreater);
}

Result<Value> Sum(Evaluator& eval, const Value& self, const Args& args) {
  const AttributePath path = AttributePath::Parse(eval, args[0]);
  Value total = args.has(1) ? args[1] : Value::Int(0);
  if (total.is(Kind::kString)) return InvalidArgument("sum() can't sum strings [use ''.join(seq) instead]");
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(self, eval.heap()));
  for (const Value& item : items) {
    ADIT_ASSIGN_OR_RETURN(const Value member, path.Get(eval, item, Value()));
    ADIT_ASSIGN_OR_RETURN(total, Arithmetic(ArithmeticOp::kAdd, total, member, eval.heap()));
    if (!eval.heap().Spend(1)) return eval.heap().status();
  }
  return total;
}

Result<Value> Unique(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<Keyed> keyed,
                        KeyedItems(eval, self, args[1], Value(), BoolArg(args, 0, false)));
  // A dict of the items by key keeps the first place of each key; the last item wins there, so they go in backwards.
  std::vector<DictEntry> entries;
  for (size_t i = 0; i < keyed.size(); ++i) {
    ADIT_RETURN_IF_ERROR(CheckHashable(keyed[i].key));
    entries.push_back({keyed[i].key, Value::Int(static_cast<int64_t>(i))});
  }
  std::vector<DictEntry> backwards(entries.rbegin(), entries.rend());
  const Dict* first_places = NewDict(eval.heap(), backwards);
  std::vector<Value> unique;
  for (size_t i = 0; i < keyed.size(); ++i) {
    if (FindKey(*first_places, keyed[i].key)->integer() == static_cast<int64_t>(i)) unique.push_back(keyed[i].item);
  }
  return Value(NewSequence(eval.heap(), SequenceType::kIterator, unique));
}

Value NewGroup(Evaluator& eval, const Value& grouper, const std::vector<Value>& members) {
  const Value pair[2] = {grouper, NewSequence(eval.heap(), SequenceType::kList, members)};
  return NewSequence(eval.heap(), SequenceType::kGroup, pair);
}

Result<Value> GroupBy(Evaluator& eval, const Value& self, const Args& args) {
  const bool case_sensitive = BoolArg(args, 2, false);
  ADIT_ASSIGN_OR_RETURN(std::vector<Keyed> keyed, KeyedItems(eval, self, args[0], args[1], case_sensitive));
  ADIT_RETURN_IF_ERROR(SortByKey(keyed, false, eval.heap()));
  const AttributePath path = AttributePath::Parse(eval, args[0]);
  std::vector<Value> groups;
  std::vector<Value> members;
  for (size_t i = 0; i < keyed.size(); ++i) {
    members.push_back(keyed[i].item);
    bool same = false;
    if (i + 1 < keyed.size()) {
      ADIT_ASSIGN_OR_RETURN(same, Equal(keyed[i].key, keyed[i + 1].key, eval.heap()));
    }
    if (same) continue;
    // The group is named by its first member as it is, whatever the case of the others.
    ADIT_ASSIGN_OR_RETURN(const Value grouper, path.Get(eval, members.front(), args[1]));
    groups.push_back(NewGroup(eval, grouper, members));
    members.clear();
  }
  return Value(NewSequence(eval.heap(), SequenceType::kList, groups));
}

constexpr Builtin kAggregateFilters[] = {
    {"min", "case_sensitive,attribute", 0, Min},
    {"max", "case_sensitive,attribute", 0, Max},
    {"sum", "attribute,start", 0, Sum},
    {"unique", "case_sensitive,attribute", 0, Unique},
    {"groupby", "attribute,default,case_sensitive", 1, GroupBy},
};

}  // namespace

std::span<const Builtin> AggregateFilters() { return kAggregateFilters; }

}  // namespace adit::chat
