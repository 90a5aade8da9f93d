#include <optional>
#include <vector>

#include "base/error.h"
#include "chat/builtin_args.h"
#include "chat/container.h"
#include "chat/undefined.h"

// Filters that apply other filters and tests to items, and those that look up or stand in for a value.
namespace adit::chat {
namespace {

Result<Value> Default(Evaluator& eval, const Value& self, const Args& args) {
  const bool missing = self.is(Kind::kUndefined) || (BoolArg(args, 1, false) && !IsTrue(self));
  if (!missing) return self;
  return args.has(0) ? args[0] : Value(Literal(eval, ""));
}

Result<Value> Attr(Evaluator& eval, const Value& self, const Args& args) {
  ADIT_ASSIGN_OR_RETURN(const Str* name, StrArg(args, 0, "name"));
  if (name == nullptr) return InvalidArgument("the argument 'name' must be a string, not 'NoneType'");
  ADIT_ASSIGN_OR_RETURN(const Value attribute, eval.FindAttribute(self, *name));
  return attribute.is_missing() ? UndefinedMember(eval.heap(), self, name) : attribute;
}

const Value* FindKeyword(const CallArgs& args, std::string_view name) {
  for (const KeywordArg& keyword : args.keywords) {
    if (keyword.name->view() == name) return &keyword.value;
  }
  return nullptr;
}

Result<Value> MapAttribute(Evaluator& eval, const Value& self, const CallArgs& args) {
  for (const KeywordArg& keyword : args.keywords) {
    if (keyword.name->view() != "attribute" && keyword.name->view() != "default") {
      return InvalidArgument("filter 'map' takes no keyword argument '{}'", keyword.name->view());
    }
  }
  const Value* fallback = FindKeyword(args, "default");
  const AttributePath path = AttributePath::Parse(eval, *FindKeyword(args, "attribute"));
  ADIT_ASSIGN_OR_RETURN(Iteration items, Iteration::Over(self, eval.heap()));
  std::vector<Value> mapped;
  Value item;
  while (items.Next(&item)) {
    ADIT_ASSIGN_OR_RETURN(const Value member, path.Get(eval, item, fallback == nullptr ? Value() : *fallback));
    mapped.push_back(member);
  }
  return Value(NewSequence(eval.heap(), SequenceType::kIterator, mapped));
}

Result<Value> Map(Evaluator& eval, const Value& self, const Args& args) {
  if (!IsTrue(self)) return Value(NewSequence(eval.heap(), SequenceType::kIterator, {}));
  if (args.raw.positional.empty() && FindKeyword(args.raw, "attribute") != nullptr) {
    return MapAttribute(eval, self, args.raw);
  }
  if (args.raw.positional.empty() || !args.raw.positional[0].is(Kind::kString)) {
    return InvalidArgument("filter 'map' needs the name of a filter or an attribute");
  }
  const std::string_view name = args.raw.positional[0].str()->view();
  const CallArgs rest{args.raw.positional.subspan(1), args.raw.keywords};
  ADIT_ASSIGN_OR_RETURN(Iteration items, Iteration::Over(self, eval.heap()));
  std::vector<Value> mapped;
  Value item;
  while (items.Next(&item)) {
    ADIT_ASSIGN_OR_RETURN(const Value result, eval.CallFilter(name, item, rest));
    mapped.push_back(result);
  }
  return Value(NewSequence(eval.heap(), SequenceType::kIterator, mapped));
}

// The items whose value, or attribute, passes the test that the arguments name, or is true if they name none.
Result<Value> Pick(Evaluator& eval, const Value& self, CallArgs args, bool by_attribute, bool wanted) {
  if (!IsTrue(self)) return Value(NewSequence(eval.heap(), SequenceType::kIterator, {}));
  AttributePath path;
  if (by_attribute) {
    if (args.positional.empty()) return InvalidArgument("Missing parameter for attribute name");
    path = AttributePath::Parse(eval, args.positional[0]);
    args.positional = args.positional.subspan(1);
  }
  std::optional<std::string_view> test;
  if (!args.positional.empty()) {
    if (!args.positional[0].is(Kind::kString)) {
      return InvalidArgument("the name of a test must be a string, not '{}'", TypeName(args.positional[0]));
    }
    test = args.positional[0].str()->view();
    args.positional = args.positional.subspan(1);
  }
  ADIT_ASSIGN_OR_RETURN(Iteration items, Iteration::Over(self, eval.heap()));
  std::vector<Value> picked;
  Value item;
  while (items.Next(&item)) {
    ADIT_ASSIGN_OR_RETURN(const Value subject, path.Get(eval, item, Value()));
    bool passes = IsTrue(subject);
    if (test) {
      ADIT_ASSIGN_OR_RETURN(passes, eval.CallTest(*test, subject, args));
    }
    if (passes == wanted) picked.push_back(item);
  }
  return Value(NewSequence(eval.heap(), SequenceType::kIterator, picked));
}

Result<Value> Select(Evaluator& eval, const Value& self, const Args& args) {
  return Pick(eval, self, args.raw, false, true);
}

Result<Value> Reject(Evaluator& eval, const Value& self, const Args& args) {
  return Pick(eval, self, args.raw, false, false);
}

Result<Value> SelectAttr(Evaluator& eval, const Value& self, const Args& args) {
  return Pick(eval, self, args.raw, true, true);
}

Result<Value> RejectAttr(Evaluator& eval, const Value& self, const Args& args) {
  return Pick(eval, self, args.raw, true, false);
}

constexpr Builtin kSelectFilters[] = {
    {"default", "default_value,boolean", 0, Default},
    {"d", "default_value,boolean", 0, Default},
    {"attr", "name", 1, Attr},
    {"map", "*", 0, Map},
    {"select", "*", 0, Select},
    {"reject", "*", 0, Reject},
    {"selectattr", "*", 0, SelectAttr},
    {"rejectattr", "*", 0, RejectAttr},
};

}  // namespace

std::span<const Builtin> SelectFilters() { return kSelectFilters; }

}  // namespace adit::chat
