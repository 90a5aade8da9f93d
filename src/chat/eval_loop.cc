#include <utility>

#include "base/error.h"
#include "chat/evaluator.h"
#include "chat/undefined.h"

namespace adit::chat {

Result<Evaluator::Flow> Evaluator::ExecFor(const ForStmt& stmt) {
  ADIT_ASSIGN_OR_RETURN(const Value iterable, Eval(*stmt.iterable));
  Flow flow = Flow::kNormal;
  ADIT_RETURN_IF_ERROR(RunLoop(stmt, iterable, scope_, 0, &flow));
  return flow;
}

// `flow` is what the else part asks of a loop around this one.
Status Evaluator::RunLoop(const ForStmt& stmt, const Value& iterable, Scope* scope, int64_t depth0, Flow* flow) {
  auto* loop = heap_.New<Loop>();
  loop->stmt = &stmt;
  loop->scope = scope;
  loop->depth0 = depth0;
  ADIT_ASSIGN_OR_RETURN(loop->items, Iteration::Over(iterable, heap_));
  bool completed_any = false;
  ADIT_RETURN_IF_ERROR(RunIterations(*loop, &completed_any));
  if (completed_any || stmt.else_block.body.empty()) return Status();
  ADIT_ASSIGN_OR_RETURN(*flow, ExecBlock(stmt.else_block, NewScope(scope), nullptr));
  return Status();
}

// As in Jinja, an iteration that ends by break or continue does not keep the else part from running.
Status Evaluator::RunIterations(Loop& loop, bool* completed_any) {
  Scope* scope = nullptr;
  while (true) {
    ADIT_ASSIGN_OR_RETURN(const bool found, Advance(loop));
    if (!found) return Status();
    // A scope serves the next iteration too unless a macro holds on to it.
    if (scope == nullptr || scope->captured) {
      scope = NewScope(loop.scope);
    } else {
      scope->size = 0;
    }
    ADIT_RETURN_IF_ERROR(Assign(loop.stmt->target, loop.current, scope));
    Bind(scope, program_.loop, &loop);
    ADIT_ASSIGN_OR_RETURN(const Flow flow, ExecBlock(loop.stmt->body, scope, nullptr));
    if (flow == Flow::kBreak) return Status();
    if (flow == Flow::kNormal) *completed_any = true;
  }
}

// Moves on to the next item; false at the end.
Result<bool> Evaluator::Advance(Loop& loop) {
  Value item = std::exchange(loop.after, Value());
  if (item.is_missing()) {
    ADIT_ASSIGN_OR_RETURN(const bool found, TakeItem(loop, &item));
    if (!found) return false;
  }
  ++loop.index0;
  loop.before = loop.current;
  loop.current = item;
  return true;
}

// The next item that passes the loop's test.
Result<bool> Evaluator::TakeItem(Loop& loop, Value* item) {
  if (!loop.ahead.empty()) {
    *item = loop.ahead.front();
    loop.ahead = loop.ahead.subspan(1);
    return true;
  }
  while (loop.items.Next(item)) {
    if (!heap_.Spend(1)) return heap_.status();
    if (loop.stmt->test == nullptr) return true;
    if (loop.test_scope == nullptr) loop.test_scope = NewScope(loop.scope);
    ADIT_RETURN_IF_ERROR(Assign(loop.stmt->target, *item, loop.test_scope));
    Scope* outer = std::exchange(scope_, loop.test_scope);
    ADIT_ASSIGN_OR_RETURN(const Value passes, Eval(*loop.stmt->test));
    scope_ = outer;
    if (IsTrue(passes)) return true;
  }
  return false;
}

Result<bool> Evaluator::HasNext(Loop& loop) {
  if (!loop.after.is_missing()) return true;
  Value item;
  ADIT_ASSIGN_OR_RETURN(const bool found, TakeItem(loop, &item));
  if (found) loop.after = item;
  return found;
}

Result<int64_t> Evaluator::LengthOf(Loop& loop) {
  if (loop.counted) return loop.length;
  if (loop.stmt->test == nullptr && loop.items.has_length()) {
    loop.length = loop.items.length();
  } else {
    std::vector<Value> ahead;
    Value item;
    while (true) {
      ADIT_ASSIGN_OR_RETURN(const bool found, TakeItem(loop, &item));
      if (!found) break;
      ahead.push_back(item);
    }
    loop.ahead = NewSequence(heap_, SequenceType::kList, ahead)->span();
    const int64_t seen = loop.index0 + 1 + (loop.after.is_missing() ? 0 : 1);
    loop.length = seen + static_cast<int64_t>(ahead.size());
  }
  loop.counted = true;
  return loop.length;
}

// loop(items) in a loop marked `recursive`: the text of the same loop over other items.
Result<Value> Evaluator::RecurseLoop(const Loop& loop, const CallArgs& args) {
  if (!loop.stmt->recursive) return InvalidArgument("a loop needs the marker 'recursive' to be called");
  if (args.positional.size() != 1 || !args.keywords.empty()) {
    return InvalidArgument("loop() takes one argument, the items");
  }
  ADIT_RETURN_IF_ERROR(EnterCall());
  StringBuilder printed(heap_);
  StringBuilder* outer = std::exchange(out_, &printed);
  Flow flow = Flow::kNormal;
  ADIT_RETURN_IF_ERROR(RunLoop(*loop.stmt, args.positional[0], loop.scope, loop.depth0 + 1, &flow));
  out_ = outer;
  --call_depth_;
  return Value(printed.Finish());
}

Result<Value> Evaluator::LoopAttribute(Loop& loop, std::string_view name) {
  if (name == "index") return Value::Int(loop.index0 + 1);
  if (name == "index0") return Value::Int(loop.index0);
  if (name == "first") return Value::Bool(loop.index0 == 0);
  if (name == "depth") return Value::Int(loop.depth0 + 1);
  if (name == "depth0") return Value::Int(loop.depth0);
  if (name == "last") {
    ADIT_ASSIGN_OR_RETURN(const bool more, HasNext(loop));
    return Value::Bool(!more);
  }
  if (name == "nextitem") {
    ADIT_ASSIGN_OR_RETURN(const bool more, HasNext(loop));
    return more ? loop.after : UndefinedBecause(heap_, "there is no next item");
  }
  if (name == "previtem") {
    return loop.index0 == 0 ? UndefinedBecause(heap_, "there is no previous item") : loop.before;
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    ADIT_ASSIGN_OR_RETURN(const int64_t length, LengthOf(loop));
    if (name == "length") return Value::Int(length);
    return Value::Int(length - loop.index0 - (name == "revindex" ? 0 : 1));
  }
  return Value();
}

}  // namespace adit::chat
