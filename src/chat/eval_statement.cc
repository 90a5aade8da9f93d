#include <utility>

#include "base/error.h"
#include "chat/evaluator.h"
#include "chat/to_text.h"

namespace adit::chat {

Result<Evaluator::Flow> Evaluator::Exec(const Body& body) {
  for (const StmtPtr& stmt : body) {
    ADIT_ASSIGN_OR_RETURN(const Flow flow, Exec(*stmt));
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Result<Evaluator::Flow> Evaluator::Exec(const Stmt& stmt) {
  if (!heap_.Spend(1)) return heap_.status();
  line_ = stmt.line;
  Status status;
  switch (stmt.kind) {
    case StmtKind::kOutput:
      status = ExecOutput(static_cast<const OutputStmt&>(stmt));
      break;
    case StmtKind::kIf:
      return ExecIf(static_cast<const IfStmt&>(stmt));
    case StmtKind::kFor:
      return ExecFor(static_cast<const ForStmt&>(stmt));
    case StmtKind::kSet:
      status = ExecSet(static_cast<const SetStmt&>(stmt));
      break;
    case StmtKind::kSetBlock:
      return ExecSetBlock(static_cast<const SetBlockStmt&>(stmt));
    case StmtKind::kMacro:
      status = ExecMacro(static_cast<const MacroStmt&>(stmt));
      break;
    case StmtKind::kCallBlock:
      status = ExecCallBlock(static_cast<const CallBlockStmt&>(stmt));
      break;
    case StmtKind::kGeneration:
      status = ExecGeneration(static_cast<const GenerationStmt&>(stmt));
      break;
    case StmtKind::kFilterBlock:
      return ExecFilterBlock(static_cast<const FilterBlockStmt&>(stmt));
    case StmtKind::kWith:
      return ExecWith(static_cast<const WithStmt&>(stmt));
    case StmtKind::kBreak:
      return Flow::kBreak;
    case StmtKind::kContinue:
      return Flow::kContinue;
  }
  if (!status.ok()) return status;
  return Flow::kNormal;
}

Status Evaluator::ExecOutput(const OutputStmt& stmt) {
  for (const ExprPtr& item : stmt.items) {
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*item));
    ADIT_RETURN_IF_ERROR(Write(value));
  }
  return Status();
}

Status Evaluator::AppendValue(const Value& value, StringBuilder& out) {
  if (value.is(Kind::kLoop)) {
    ADIT_ASSIGN_OR_RETURN(const int64_t length, LengthOf(*value.loop()));
    out.Append(fmt::format("<LoopContext {}/{}>", value.loop()->index0 + 1, length), false);
    return Status();
  }
  return AppendText(value, out, heap_);
}

Result<Evaluator::Flow> Evaluator::ExecIf(const IfStmt& stmt) {
  for (const auto& [test, body] : stmt.branches) {
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*test));
    if (IsTrue(value)) return Exec(body);
  }
  return Exec(stmt.else_body);
}

Status Evaluator::ExecSet(const SetStmt& stmt) {
  ADIT_RETURN_IF_ERROR(CheckNamespaces(stmt.target));
  ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*stmt.value));
  return Assign(stmt.target, value, scope_);
}

Result<Evaluator::Flow> Evaluator::ExecBlock(const Block& block, Scope* scope, StringBuilder* out) {
  Scope* outer = std::exchange(scope_, scope);
  StringBuilder* outer_out = out_;
  if (out != nullptr) out_ = out;
  EnterBlock(block, *scope);
  Result<Flow> flow = Exec(block.body);
  scope_ = outer;
  out_ = outer_out;
  return flow;
}

Result<Evaluator::Flow> Evaluator::ExecSetBlock(const SetBlockStmt& stmt) {
  ADIT_RETURN_IF_ERROR(CheckNamespaces(stmt.target));
  Scope* scope = NewScope(scope_);
  StringBuilder printed(heap_);
  ADIT_ASSIGN_OR_RETURN(const Flow flow, ExecBlock(stmt.block, scope, &printed));
  if (flow != Flow::kNormal) return flow;
  Value value = printed.Finish();
  if (stmt.filter != nullptr) {
    Scope* outer = std::exchange(scope_, scope);
    ADIT_ASSIGN_OR_RETURN(value, EvalBuiltin(static_cast<const BuiltinExpr&>(*stmt.filter), value));
    scope_ = outer;
  }
  ADIT_RETURN_IF_ERROR(Assign(stmt.target, value, scope_));
  return Flow::kNormal;
}

Status Evaluator::ExecMacro(const MacroStmt& stmt) {
  Bind(scope_, stmt.name, NewMacro(stmt.def));
  return Status();
}

Status Evaluator::ExecCallBlock(const CallBlockStmt& stmt) {
  const Value caller = NewMacro(stmt.def);
  ADIT_ASSIGN_OR_RETURN(const Value value, EvalCall(static_cast<const CallExpr&>(*stmt.call), caller));
  return Write(value);
}

// The block is a macro called at once: its text goes straight to the output.
Status Evaluator::ExecGeneration(const GenerationStmt& stmt) {
  const Value body = NewMacro(stmt.def);
  ADIT_ASSIGN_OR_RETURN(const Value value, CallMacro(*body.macro(), {}));
  return Write(value);
}

Result<Evaluator::Flow> Evaluator::ExecFilterBlock(const FilterBlockStmt& stmt) {
  Scope* scope = NewScope(scope_);
  StringBuilder printed(heap_);
  ADIT_ASSIGN_OR_RETURN(const Flow flow, ExecBlock(stmt.block, scope, &printed));
  if (flow != Flow::kNormal) return flow;
  Scope* outer = std::exchange(scope_, scope);
  ADIT_ASSIGN_OR_RETURN(const Value value,
                        EvalBuiltin(static_cast<const BuiltinExpr&>(*stmt.filter), printed.Finish()));
  scope_ = outer;
  ADIT_RETURN_IF_ERROR(Write(value));
  return Flow::kNormal;
}

Result<Evaluator::Flow> Evaluator::ExecWith(const WithStmt& stmt) {
  Scope* scope = NewScope(scope_);
  for (const auto& [target, expr] : stmt.assignments) {
    ADIT_ASSIGN_OR_RETURN(const Value value, Eval(*expr));
    ADIT_RETURN_IF_ERROR(Assign(target, value, scope));
  }
  return ExecBlock(stmt.block, scope, nullptr);
}

}  // namespace adit::chat
