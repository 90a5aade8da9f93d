#include "chat/builtin.h"

#include <algorithm>
#include <initializer_list>

#include "base/error.h"

namespace adit::chat {
namespace {

const Builtin* Find(std::initializer_list<std::span<const Builtin>> tables, std::string_view name) {
  for (const std::span<const Builtin> table : tables) {
    const auto found = std::ranges::find(table, name, &Builtin::name);
    if (found != table.end()) return &*found;
  }
  return nullptr;
}

// Index of the parameter, or -1; its number if `name` is empty.
int FindParam(std::string_view params, std::string_view name) {
  int index = 0;
  while (!params.empty()) {
    const std::string_view param = params.substr(0, params.find(','));
    if (!name.empty() && param == name) return index;
    ++index;
    params.remove_prefix(std::min(params.size(), param.size() + 1));
  }
  return name.empty() ? index : -1;
}

std::string_view ParamName(std::string_view params, int index) {
  for (; index > 0; --index) params.remove_prefix(params.find(',') + 1);
  return params.substr(0, params.find(','));
}

}  // namespace

const Builtin* FindFilter(std::string_view name) {
  return Find({TextFilters(), LayoutFilters(), MarkupFilters(), NumberFilters(), SequenceFilters(), AggregateFilters(),
               SelectFilters()},
              name);
}

const Builtin* FindTest(std::string_view name) { return Find({TypeTests(), CompareTests()}, name); }

const Builtin* FindGlobal(std::string_view name) { return Find({Globals()}, name); }

const Builtin* FindMethod(const Value& object, std::string_view name) {
  switch (object.kind()) {
    case Kind::kString:
      return Find({StringSearchMethods(), StringSplitMethods(), StringCaseMethods(), StringLayoutMethods()}, name);
    case Kind::kDict:
      return Find({DictMethods()}, name);
    case Kind::kSequence: {
      const Sequence& sequence = *object.sequence();
      if (!sequence.is_subscriptable()) return nullptr;
      if (name == "copy" && sequence.type != SequenceType::kList) return nullptr;
      return Find({ListMethods()}, name);
    }
    case Kind::kBool:
    case Kind::kInt:
      return Find({IntMethods()}, name);
    case Kind::kFloat:
      return Find({FloatMethods()}, name);
    case Kind::kLoop:
      return Find({LoopMethods()}, name);
    case Kind::kCycler:
      return Find({CyclerMethods()}, name);
    default:
      return nullptr;
  }
}

std::string_view RefusedFilter(std::string_view name) {
  if (name == "random") return "the same request must give the same prompt";
  if (name == "pprint") return "its line breaks are for people; tojson(indent=2) is for models";
  if (name == "urlize") return "it makes links for web pages";
  return "";
}

Result<Args> BindArgs(const Builtin& builtin, std::string_view kind, const CallArgs& args) {
  Args bound;
  bound.raw = args;
  if (builtin.params == "*") {
    if (args.positional.size() >= static_cast<size_t>(builtin.num_required)) return bound;
    return InvalidArgument("{} '{}' takes at least {} arguments, {} given", kind, builtin.name, builtin.num_required,
                           args.positional.size());
  }
  const int num_params = FindParam(builtin.params, "");
  if (args.positional.size() > static_cast<size_t>(num_params)) {
    return InvalidArgument("{} '{}' takes at most {} arguments, {} given", kind, builtin.name, num_params,
                           args.positional.size());
  }
  std::ranges::copy(args.positional, bound.values.begin());
  for (const KeywordArg& keyword : args.keywords) {
    const std::string_view name = keyword.name->view();
    const int index = name == "_" ? -1 : FindParam(builtin.params, name);
    if (index < 0) return InvalidArgument("{} '{}' takes no keyword argument '{}'", kind, builtin.name, name);
    Value& value = bound.values[static_cast<size_t>(index)];
    if (!value.is_missing())
      return InvalidArgument("{} '{}' has two values for the argument '{}'", kind, builtin.name, name);
    value = keyword.value;
  }
  for (int i = 0; i < builtin.num_required; ++i) {
    if (!bound.values[static_cast<size_t>(i)].is_missing()) continue;
    const std::string_view name = ParamName(builtin.params, i);
    if (name == "_")
      return InvalidArgument("{} '{}' takes at least {} arguments, {} given", kind, builtin.name, builtin.num_required,
                             i);
    return InvalidArgument("{} '{}' needs the argument '{}'", kind, builtin.name, name);
  }
  return bound;
}

}  // namespace adit::chat
