#include <algorithm>

#include "base/error.h"
#include "chat/evaluator.h"
#include "chat/undefined.h"

namespace adit::chat {
namespace {

constexpr uint32_t kFirstBindings = 4;

}  // namespace

Scope* Evaluator::NewScope(Scope* parent) {
  auto* scope = heap_.New<Scope>();
  scope->parent = parent;
  return scope;
}

void Evaluator::EnterBlock(const Block& block, Scope& scope) {
  for (const NameId name : block.undefined_at_entry) Bind(&scope, name, Value());
}

void Evaluator::Bind(Scope* scope, NameId name, const Value& value) {
  if (scope == nullptr) {
    globals_[name] = value;
    return;
  }
  for (uint32_t i = 0; i < scope->size; ++i) {
    if (scope->bindings[i].name == name) {
      scope->bindings[i].value = value;
      return;
    }
  }
  if (scope->size == scope->capacity) {
    scope->capacity = std::max(kFirstBindings, scope->capacity * 2);
    auto* grown = heap_.NewArray<Binding>(scope->capacity);
    std::copy_n(scope->bindings, scope->size, grown);
    scope->bindings = grown;
  }
  scope->bindings[scope->size++] = {name, value};
}

const Value* Evaluator::Lookup(NameId name) const {
  for (const Scope* scope = scope_; scope != nullptr; scope = scope->parent) {
    for (uint32_t i = 0; i < scope->size; ++i) {
      if (scope->bindings[i].name == name) return &scope->bindings[i].value;
    }
  }
  return &globals_[name];
}

Value Evaluator::Read(NameId name) {
  const Value* value = Lookup(name);
  if (!value->is_missing()) return *value;
  return UndefinedName(heap_, program_.names[static_cast<size_t>(name)]);
}

Status Evaluator::Assign(const Target& target, const Value& value, Scope* scope) {
  switch (target.kind) {
    case Target::Kind::kName:
      Bind(scope, target.name, value);
      return Status();
    case Target::Kind::kNamespace: {
      const Value* ns = Lookup(target.name);
      if (!ns->is(Kind::kNamespace)) return InvalidArgument("cannot assign attribute on non-namespace object");
      SetName(heap_, *ns->name_space(), target.member, value);
      return Status();
    }
    case Target::Kind::kTuple:
      break;
  }
  if (!value.is(Kind::kSequence) && !value.is(Kind::kDict) && !value.is(Kind::kString) && !value.is(Kind::kUndefined)) {
    return InvalidArgument("cannot unpack non-iterable {} object", TypeName(value));
  }
  ADIT_ASSIGN_OR_RETURN(const std::span<const Value> items, ItemsOf(value, heap_));
  if (items.size() < target.items.size()) {
    return InvalidArgument("not enough values to unpack (expected {}, got {})", target.items.size(), items.size());
  }
  if (items.size() > target.items.size()) {
    return InvalidArgument("too many values to unpack (expected {})", target.items.size());
  }
  for (size_t i = 0; i < items.size(); ++i) ADIT_RETURN_IF_ERROR(Assign(target.items[i], items[i], scope));
  return Status();
}

// An assignment to what is no namespace fails before its value is computed.
Status Evaluator::CheckNamespaces(const Target& target) const {
  if (target.kind == Target::Kind::kNamespace && !Lookup(target.name)->is(Kind::kNamespace)) {
    return InvalidArgument("cannot assign attribute on non-namespace object");
  }
  for (const Target& item : target.items) ADIT_RETURN_IF_ERROR(CheckNamespaces(item));
  return Status();
}

Value Evaluator::NewMacro(const MacroDef& def) {
  for (Scope* scope = scope_; scope != nullptr && !scope->captured; scope = scope->parent) scope->captured = true;
  auto* macro = heap_.New<Macro>();
  macro->def = &def;
  macro->scope = scope_;
  return macro;
}

}  // namespace adit::chat
