#include "chat/scope_analysis.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

#include "chat/builtin.h"
#include "chat/lexer.h"
#include "chat/scope_analysis_internal.h"

namespace adit::chat {
namespace {

// Where a block first gets a name from.
enum class Origin {
  kParameter,  // an argument or the variable of a loop
  kResolved,   // the context, or an outer block
  kUndefined,  // nowhere: the block itself assigns it
};

// The names of one block as its statements mention them, in order. A branch of an `if` has Names of its own on top of
// those of its block.
struct Names {
  const Names* parent = nullptr;  // of the block around
  const Names* trunk = nullptr;   // of a branch: the same block outside of the branch
  std::map<NameId, Origin> origins = {};
  std::set<NameId> stores = {};

  bool KnowsHere(NameId name) const { return origins.contains(name) || (trunk != nullptr && trunk->KnowsHere(name)); }
  bool Knows(NameId name) const { return KnowsHere(name) || (parent != nullptr && parent->Knows(name)); }
  bool Stores(NameId name) const { return stores.contains(name) || (trunk != nullptr && trunk->Stores(name)); }

  void Declare(NameId name) {
    stores.insert(name);
    origins[name] = Origin::kParameter;
  }
  void Load(NameId name) {
    if (!Knows(name)) origins[name] = Origin::kResolved;
  }
  void Store(NameId name) {
    const bool known = KnowsHere(name);
    stores.insert(name);
    if (known) return;
    const bool outer = parent != nullptr && parent->Knows(name);
    origins[name] = outer ? Origin::kResolved : Origin::kUndefined;
  }
  // Takes over what branches did. Since none of them may run, what only they assign comes from outside.
  void Merge(std::initializer_list<const Names*> branches) {
    std::set<NameId> assigned;
    for (const Names* branch : branches) {
      for (const NameId name : branch->stores) {
        if (!Stores(name)) assigned.insert(name);
      }
    }
    for (const Names* branch : branches) {
      for (const auto& [name, origin] : branch->origins) origins[name] = origin;
    }
    for (const NameId name : assigned) {
      stores.insert(name);
      origins[name] = Origin::kResolved;
    }
  }
  std::vector<NameId> Undefined() const {
    std::vector<NameId> undefined;
    for (const auto& [name, origin] : origins) {
      if (origin == Origin::kUndefined) undefined.push_back(name);
    }
    return undefined;
  }
};

class Analyzer {
 public:
  explicit Analyzer(ParsedTemplate& parsed) : parsed_(parsed) {}

  Status Run() {
    Names root;
    return AnalyzeBlock(parsed_.root, root, nullptr);
  }

 private:
  // Collects the names of a block whose parameters are declared already, then goes into the blocks inside it.
  // `filter` is evaluated inside the block too, and may be null.
  Status AnalyzeBlock(Block& block, Names& names, const Expr* filter);
  Status AnalyzeMacro(MacroDef& def, int line, const Names& outer);

  // What a statement does to the names of its own block.
  void Collect(const Body& body, Names& names) const;
  void Collect(const Stmt& stmt, Names& names) const;
  void CollectIf(const IfStmt& stmt, Names& names) const;
  void CollectLoads(const Expr* expr, Names& names) const;
  static void CollectTarget(const Target& target, Names& names);
  static void DeclareTarget(const Target& target, Names& names);

  // Goes into the blocks below statements; `soft` inside of an `if`.
  Status Descend(const Body& body, const Names& names, bool soft);
  Status Descend(Stmt& stmt, const Names& names, bool soft);
  Status DescendFor(ForStmt& stmt, const Names& names, bool soft);
  Status CheckBuiltins(const Expr* expr, bool soft) const;

  ParsedTemplate& parsed_;
};

Status Analyzer::AnalyzeBlock(Block& block, Names& names, const Expr* filter) {
  Collect(block.body, names);
  CollectLoads(filter, names);
  block.undefined_at_entry = names.Undefined();
  ADIT_RETURN_IF_ERROR(CheckBuiltins(filter, false));
  return Descend(block.body, names, false);
}

Status Analyzer::AnalyzeMacro(MacroDef& def, int line, const Names& outer) {
  Names names{.parent = &outer};
  const std::set<NameId> used = UsedNames(def.block.body, {parsed_.caller, parsed_.kwargs, parsed_.varargs});
  std::set<NameId> params;
  for (const MacroParam& param : def.params) {
    params.insert(param.name);
    if (param.name == parsed_.caller && used.contains(parsed_.caller) && param.fallback == nullptr) {
      return SyntaxError(line, "a parameter 'caller' of a macro needs a default");
    }
  }
  def.takes_caller = used.contains(parsed_.caller);
  def.takes_kwargs = used.contains(parsed_.kwargs) && !params.contains(parsed_.kwargs);
  def.takes_varargs = used.contains(parsed_.varargs) && !params.contains(parsed_.varargs);
  if (def.takes_caller) names.Declare(parsed_.caller);
  if (def.takes_kwargs) names.Declare(parsed_.kwargs);
  if (def.takes_varargs) names.Declare(parsed_.varargs);
  for (const NameId param : params) names.Declare(param);
  for (const MacroParam& param : def.params) {
    CollectLoads(param.fallback.get(), names);
    ADIT_RETURN_IF_ERROR(CheckBuiltins(param.fallback.get(), false));
  }
  return AnalyzeBlock(def.block, names, nullptr);
}

void Analyzer::Collect(const Body& body, Names& names) const {
  for (const StmtPtr& stmt : body) Collect(*stmt, names);
}

void Analyzer::Collect(const Stmt& stmt, Names& names) const {
  switch (stmt.kind) {
    case StmtKind::kOutput:
      for (const ExprPtr& item : static_cast<const OutputStmt&>(stmt).items) CollectLoads(item.get(), names);
      break;
    case StmtKind::kIf:
      CollectIf(static_cast<const IfStmt&>(stmt), names);
      break;
    case StmtKind::kFor:
      CollectLoads(static_cast<const ForStmt&>(stmt).iterable.get(), names);
      break;
    case StmtKind::kSet:
      CollectLoads(static_cast<const SetStmt&>(stmt).value.get(), names);
      CollectTarget(static_cast<const SetStmt&>(stmt).target, names);
      break;
    case StmtKind::kSetBlock:
      CollectTarget(static_cast<const SetBlockStmt&>(stmt).target, names);
      break;
    case StmtKind::kMacro:
      names.Store(static_cast<const MacroStmt&>(stmt).name);
      break;
    case StmtKind::kCallBlock:
      CollectLoads(static_cast<const CallBlockStmt&>(stmt).call.get(), names);
      break;
    case StmtKind::kFilterBlock:
      CollectLoads(static_cast<const FilterBlockStmt&>(stmt).filter.get(), names);
      break;
    case StmtKind::kWith:
      for (const auto& [target, value] : static_cast<const WithStmt&>(stmt).assignments) {
        CollectLoads(value.get(), names);
      }
      break;
    case StmtKind::kGeneration:
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      break;
  }
}

void Analyzer::CollectIf(const IfStmt& stmt, Names& names) const {
  CollectLoads(stmt.branches.front().first.get(), names);
  Names if_branch{.parent = names.parent, .trunk = &names};
  Names elif_branch{.parent = names.parent, .trunk = &names};
  Names else_branch{.parent = names.parent, .trunk = &names};
  Collect(stmt.branches.front().second, if_branch);
  for (size_t i = 1; i < stmt.branches.size(); ++i) {
    const auto& [test, body] = stmt.branches[i];
    CollectLoads(test.get(), elif_branch);
    Names branch{.parent = names.parent, .trunk = &elif_branch};
    Collect(body, branch);
    elif_branch.Merge({&branch});
  }
  Collect(stmt.else_body, else_branch);
  names.Merge({&if_branch, &elif_branch, &else_branch});
}

void Analyzer::CollectLoads(const Expr* expr, Names& names) const {
  if (expr == nullptr) return;
  if (expr->kind == ExprKind::kName) names.Load(static_cast<const NameExpr*>(expr)->name);
  ForEachChild(*expr, [&](const Expr& child) { CollectLoads(&child, names); });
}

void Analyzer::CollectTarget(const Target& target, Names& names) {
  if (target.kind == Target::Kind::kName) names.Store(target.name);
  if (target.kind == Target::Kind::kNamespace) names.Load(target.name);
  for (const Target& item : target.items) CollectTarget(item, names);
}

void Analyzer::DeclareTarget(const Target& target, Names& names) {
  if (target.kind == Target::Kind::kName) names.Declare(target.name);
  for (const Target& item : target.items) DeclareTarget(item, names);
}

Status Analyzer::Descend(const Body& body, const Names& names, bool soft) {
  for (const StmtPtr& stmt : body) ADIT_RETURN_IF_ERROR(Descend(*stmt, names, soft));
  return Status();
}

Status Analyzer::Descend(Stmt& stmt, const Names& names, bool soft) {
  Names inner{.parent = &names};
  switch (stmt.kind) {
    case StmtKind::kOutput:
      for (const ExprPtr& item : static_cast<OutputStmt&>(stmt).items) {
        ADIT_RETURN_IF_ERROR(CheckBuiltins(item.get(), soft));
      }
      return Status();
    case StmtKind::kIf: {
      auto& if_stmt = static_cast<IfStmt&>(stmt);
      for (const auto& [test, body] : if_stmt.branches) {
        ADIT_RETURN_IF_ERROR(CheckBuiltins(test.get(), true));
        ADIT_RETURN_IF_ERROR(Descend(body, names, true));
      }
      return Descend(if_stmt.else_body, names, true);
    }
    case StmtKind::kFor:
      return DescendFor(static_cast<ForStmt&>(stmt), names, soft);
    case StmtKind::kSet:
      return CheckBuiltins(static_cast<SetStmt&>(stmt).value.get(), soft);
    case StmtKind::kSetBlock: {
      auto& set = static_cast<SetBlockStmt&>(stmt);
      return AnalyzeBlock(set.block, inner, set.filter.get());
    }
    case StmtKind::kMacro:
      return AnalyzeMacro(static_cast<MacroStmt&>(stmt).def, stmt.line, names);
    case StmtKind::kCallBlock: {
      auto& call = static_cast<CallBlockStmt&>(stmt);
      ADIT_RETURN_IF_ERROR(CheckBuiltins(call.call.get(), soft));
      return AnalyzeMacro(call.def, stmt.line, names);
    }
    case StmtKind::kGeneration:
      return AnalyzeMacro(static_cast<GenerationStmt&>(stmt).def, stmt.line, names);
    case StmtKind::kFilterBlock: {
      auto& filter = static_cast<FilterBlockStmt&>(stmt);
      return AnalyzeBlock(filter.block, inner, filter.filter.get());
    }
    case StmtKind::kWith: {
      auto& with = static_cast<WithStmt&>(stmt);
      for (const auto& [target, value] : with.assignments) {
        ADIT_RETURN_IF_ERROR(CheckBuiltins(value.get(), soft));
        DeclareTarget(target, inner);
      }
      return AnalyzeBlock(with.block, inner, nullptr);
    }
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      return Status();
  }
  return Status();
}

Status Analyzer::DescendFor(ForStmt& stmt, const Names& names, bool soft) {
  ADIT_RETURN_IF_ERROR(CheckBuiltins(stmt.iterable.get(), soft));
  ADIT_RETURN_IF_ERROR(CheckBuiltins(stmt.test.get(), false));
  Names body{.parent = &names};
  body.Declare(parsed_.loop);
  DeclareTarget(stmt.target, body);
  ADIT_RETURN_IF_ERROR(AnalyzeBlock(stmt.body, body, nullptr));
  Names else_names{.parent = &names};
  return AnalyzeBlock(stmt.else_block, else_names, nullptr);
}

Status Analyzer::CheckBuiltins(const Expr* expr, bool soft) const {
  if (expr == nullptr || soft) return Status();
  const bool is_builtin = expr->kind == ExprKind::kFilter || expr->kind == ExprKind::kTest;
  if (is_builtin && static_cast<const BuiltinExpr*>(expr)->builtin == nullptr) {
    return SyntaxError(expr->line, UnknownBuiltin(*static_cast<const BuiltinExpr*>(expr)));
  }
  if (expr->kind == ExprKind::kConditional) return Status();  // like an `if`
  Status status;
  ForEachChild(*expr, [&](const Expr& child) {
    if (status.ok()) status = CheckBuiltins(&child, soft);
  });
  return status;
}

}  // namespace

std::string UnknownBuiltin(const BuiltinExpr& expr) {
  const std::string_view name = expr.name->view();
  if (expr.kind == ExprKind::kTest) return fmt::format("no test named '{}'", name);
  const std::string_view reason = RefusedFilter(name);
  if (!reason.empty()) return fmt::format("the filter '{}' is not supported in chat templates: {}", name, reason);
  return fmt::format("no filter named '{}'", name);
}

Status AnalyzeScopes(ParsedTemplate& parsed) { return Analyzer(parsed).Run(); }

}  // namespace adit::chat
