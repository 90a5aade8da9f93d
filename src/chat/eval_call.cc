#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"
#include "chat/evaluator.h"
#include "chat/scope_analysis_internal.h"
#include "chat/undefined.h"

namespace adit::chat {
namespace {

const Value* FindKeyword(std::span<const KeywordArg> keywords, std::string_view name) {
  for (const KeywordArg& keyword : keywords) {
    if (keyword.name->view() == name) return &keyword.value;
  }
  return nullptr;
}

template <typename T>
std::span<const T> CopyToHeap(Heap& heap, const std::vector<T>& items) {
  T* copy = heap.NewArray<T>(items.size());
  std::copy(items.begin(), items.end(), copy);
  return {copy, items.size()};
}

}  // namespace

Status Evaluator::EnterCall() {
  if (call_depth_ >= options_.max_depth) {
    return ResourceExhausted("calls nested deeper than {} levels", options_.max_depth);
  }
  ++call_depth_;
  return Status();
}

Result<Value> Evaluator::EvalCall(const CallExpr& expr, const Value& caller) {
  ADIT_ASSIGN_OR_RETURN(const Value callee, Eval(*expr.callee));
  ADIT_ASSIGN_OR_RETURN(const CallArgs args, EvalArgs(expr.args, caller));
  line_ = expr.line;
  return Call(callee, args);
}

Result<CallArgs> Evaluator::EvalArgs(const CallArgsExpr& args, const Value& caller) {
  std::vector<Value> positional;
  std::vector<KeywordArg> keywords;
  for (const ExprPtr& arg : args.positional) {
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*arg));
    positional.push_back(value);
  }
  for (const auto& [name, arg] : args.keywords) {
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*arg));
    keywords.push_back({name, value});
  }
  if (!caller.is_missing()) keywords.push_back({program_.names[static_cast<size_t>(program_.caller)], caller});
  if (args.star != nullptr) {
    ADIT_ASSIGN_OR_RETURN(const Value star, Eval(*args.star));
    ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(star, heap_));
    positional.insert(positional.end(), items.begin(), items.end());
  }
  if (args.double_star != nullptr) {
    ADIT_ASSIGN_OR_RETURN(const Value more, Eval(*args.double_star));
    if (!more.is(Kind::kDict)) return InvalidArgument("the argument after ** must be a dict, not {}", TypeName(more));
    for (const DictEntry& entry : more.dict()->span()) {
      if (!entry.key.is(Kind::kString)) return InvalidArgument("keywords must be strings");
      if (FindKeyword(keywords, entry.key.str()->view()) != nullptr) {
        return InvalidArgument("got multiple values for keyword argument '{}'", entry.key.str()->view());
      }
      keywords.push_back({entry.key.str(), entry.value});
      if (!heap_.Spend(static_cast<int64_t>(keywords.size()))) return heap_.status();
    }
  }
  return CallArgs{CopyToHeap(heap_, positional), CopyToHeap(heap_, keywords)};
}

Result<Value> Evaluator::EvalBuiltin(const BuiltinExpr& expr, const Value& printed) {
  Value input = printed;
  if (expr.input != nullptr && expr.input->kind == ExprKind::kFilter && !printed.is_missing()) {
    // A chain of filters over what a block printed: the first of them has no input of its own.
    ADIT_ASSIGN_OR_RETURN(input, EvalBuiltin(static_cast<const BuiltinExpr&>(*expr.input), printed));
  } else if (expr.input != nullptr) {
    ADIT_ASSIGN_OR_RETURN(input, Eval(*expr.input));
  }
  if (expr.builtin == nullptr) return InvalidArgument("{}", UnknownBuiltin(expr));
  ADIT_ASSIGN_OR_RETURN(const CallArgs call_args, EvalArgs(expr.args, Value()));
  line_ = expr.line;
  const bool is_filter = expr.kind == ExprKind::kFilter;
  ADIT_ASSIGN_OR_RETURN(const Args args, BindArgs(*expr.builtin, is_filter ? "filter" : "test", call_args));
  return expr.builtin->call(*this, input, args);
}

Result<Value> Evaluator::Call(const Value& callee, const CallArgs& args) {
  if (!heap_.Spend(1)) return heap_.status();
  switch (callee.kind()) {
    case Kind::kUndefined:
      return UndefinedError(callee);
    case Kind::kFunction:
      return CallFunction(*callee.function(), args);
    case Kind::kMacro:
      return CallMacro(*callee.macro(), args);
    case Kind::kLoop:
      return RecurseLoop(*callee.loop(), args);
    case Kind::kJoiner: {
      if (!args.positional.empty() || !args.keywords.empty()) return InvalidArgument("a joiner takes no arguments");
      Joiner& joiner = *callee.joiner();
      const bool first = !std::exchange(joiner.used, true);
      return first ? Value(NewStr(heap_, "", false)) : joiner.separator;
    }
    default:
      return InvalidArgument("'{}' object is not callable", TypeName(callee));
  }
}

Result<Value> Evaluator::CallFunction(const Function& function, const CallArgs& args) {
  ADIT_ASSIGN_OR_RETURN(const Args bound, BindArgs(*function.builtin, "function", args));
  return function.builtin->call(*this, function.self, bound);
}

Result<Value> Evaluator::CallFilter(std::string_view name, const Value& input, const CallArgs& args) {
  if (!heap_.Spend(1)) return heap_.status();
  const Builtin* filter = FindFilter(name);
  if (filter == nullptr) return InvalidArgument("no filter named '{}'", name);
  ADIT_ASSIGN_OR_RETURN(const Args bound, BindArgs(*filter, "filter", args));
  return filter->call(*this, input, bound);
}

Result<bool> Evaluator::CallTest(std::string_view name, const Value& input, const CallArgs& args) {
  if (!heap_.Spend(1)) return heap_.status();
  const Builtin* test = FindTest(name);
  if (test == nullptr) return InvalidArgument("no test named '{}'", name);
  ADIT_ASSIGN_OR_RETURN(const Args bound, BindArgs(*test, "test", args));
  ADIT_ASSIGN_OR_RETURN(const Value result, test->call(*this, input, bound));
  return IsTrue(result);
}

Result<Value> Evaluator::CallMacro(const Macro& macro, const CallArgs& args) {
  ADIT_RETURN_IF_ERROR(EnterCall());
  Scope* scope = NewScope(macro.scope);
  ADIT_RETURN_IF_ERROR(BindMacroArgs(*macro.def, args, *scope));
  // Defaults are computed inside the macro, from left to right.
  Scope* outer = std::exchange(scope_, scope);
  for (const MacroParam& param : macro.def->params) {
    if (!Lookup(param.name)->is_missing()) continue;
    Value value;
    if (param.fallback != nullptr) {
      ADIT_ASSIGN_OR_RETURN(value, Eval(*param.fallback));
    } else {
      const std::string_view name = program_.names[static_cast<size_t>(param.name)]->view();
      value = UndefinedBecause(heap_, fmt::format("parameter '{}' was not provided", name));
    }
    Bind(scope, param.name, value);
  }
  scope_ = outer;
  StringBuilder printed(heap_);
  ADIT_RETURN_IF_ERROR(ExecBlock(macro.def->block, scope, &printed).status());
  --call_depth_;
  return Value(printed.Finish());
}

// Binds the parameters, those without an argument to kMissing, and the special variables.
Status Evaluator::BindMacroArgs(const MacroDef& def, const CallArgs& args, Scope& scope) {
  std::vector<bool> used(args.keywords.size(), false);
  for (size_t i = 0; i < def.params.size(); ++i) {
    Value value;
    if (i < args.positional.size()) {
      value = args.positional[i];
    } else {
      const std::string_view name = program_.names[static_cast<size_t>(def.params[i].name)]->view();
      for (size_t k = 0; k < args.keywords.size(); ++k) {
        if (args.keywords[k].name->view() != name) continue;
        value = args.keywords[k].value;
        used[k] = true;
      }
    }
    Bind(&scope, def.params[i].name, value);
  }
  std::vector<KeywordArg> extra;
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    if (!used[k]) extra.push_back(args.keywords[k]);
  }
  return BindSpecialArgs(def, args, extra, scope);
}

Status Evaluator::BindSpecialArgs(const MacroDef& def, const CallArgs& args, std::span<const KeywordArg> extra,
                                  Scope& scope) {
  const std::string_view name = def.name == nullptr ? "caller" : def.name->view();
  const bool has_param =
      std::ranges::any_of(def.params, [&](const MacroParam& p) { return p.name == program_.caller; });
  const bool binds_caller = def.takes_caller && !has_param;
  if (binds_caller) {
    const Value* caller = FindKeyword(extra, "caller");
    const bool given = caller != nullptr && !caller->is(Kind::kNone);
    Bind(&scope, program_.caller, given ? *caller : UndefinedBecause(heap_, "No caller defined"));
  }
  std::vector<DictEntry> kwargs;
  for (const KeywordArg& keyword : extra) {
    if (binds_caller && keyword.name->view() == "caller") continue;
    if (!def.takes_kwargs) {
      return InvalidArgument("macro '{}' takes no keyword argument '{}'", name, keyword.name->view());
    }
    kwargs.push_back({keyword.name, keyword.value});
  }
  if (def.takes_kwargs) Bind(&scope, program_.kwargs, NewDict(heap_, kwargs));
  const size_t num_params = def.params.size();
  if (!def.takes_varargs && args.positional.size() > num_params) {
    return InvalidArgument("macro '{}' takes not more than {} argument(s)", name, num_params);
  }
  if (def.takes_varargs) {
    const auto rest = args.positional.subspan(std::min(args.positional.size(), num_params));
    Bind(&scope, program_.varargs, BorrowSequence(heap_, SequenceType::kTuple, rest));
  }
  return Status();
}

}  // namespace adit::chat
