#include <utility>

#include "chat/scope_analysis_internal.h"

namespace adit::chat {
namespace {

using Visit = std::function<void(const Expr&)>;

void VisitIf(const ExprPtr& expr, const Visit& visit) {
  if (expr != nullptr) visit(*expr);
}

void VisitArgs(const CallArgsExpr& args, const Visit& visit) {
  for (const ExprPtr& arg : args.positional) visit(*arg);
  for (const auto& [name, arg] : args.keywords) visit(*arg);
  VisitIf(args.star, visit);
  VisitIf(args.double_star, visit);
}

// Walks statements with all blocks inside them, noting reads of names that no assignment came before.
class UseFinder {
 public:
  explicit UseFinder(std::set<NameId> names) : names_(std::move(names)) {}

  void Walk(const Body& body) {
    for (const StmtPtr& stmt : body) Walk(*stmt);
  }
  const std::set<NameId>& used() const { return used_; }

 private:
  void Walk(const Stmt& stmt);
  void WalkFor(const ForStmt& stmt);
  void WalkMacro(const MacroDef& def);
  void Walk(const Expr& expr);
  void WalkIf(const ExprPtr& expr) {
    if (expr != nullptr) Walk(*expr);
  }
  void Walk(const Target& target);
  void Drop(NameId name) { names_.erase(name); }

  std::set<NameId> names_;
  std::set<NameId> used_;
};

void UseFinder::Walk(const Expr& expr) {
  if (expr.kind == ExprKind::kName) {
    const NameId name = static_cast<const NameExpr&>(expr).name;
    if (names_.contains(name)) used_.insert(name);
  }
  ForEachChild(expr, [this](const Expr& child) { Walk(child); });
}

void UseFinder::Walk(const Target& target) {
  if (target.kind == Target::Kind::kName) Drop(target.name);
  for (const Target& item : target.items) Walk(item);
}

void UseFinder::WalkFor(const ForStmt& stmt) {
  Walk(stmt.target);
  Walk(*stmt.iterable);
  Walk(stmt.body.body);
  Walk(stmt.else_block.body);
  WalkIf(stmt.test);
}

void UseFinder::WalkMacro(const MacroDef& def) {
  for (const MacroParam& param : def.params) Drop(param.name);
  for (const MacroParam& param : def.params) WalkIf(param.fallback);
  Walk(def.block.body);
}

void UseFinder::Walk(const Stmt& stmt) {
  switch (stmt.kind) {
    case StmtKind::kOutput:
      for (const ExprPtr& item : static_cast<const OutputStmt&>(stmt).items) Walk(*item);
      break;
    case StmtKind::kIf:
      for (const auto& [test, body] : static_cast<const IfStmt&>(stmt).branches) {
        Walk(*test);
        Walk(body);
      }
      Walk(static_cast<const IfStmt&>(stmt).else_body);
      break;
    case StmtKind::kFor:
      WalkFor(static_cast<const ForStmt&>(stmt));
      break;
    case StmtKind::kSet:
      Walk(static_cast<const SetStmt&>(stmt).target);
      Walk(*static_cast<const SetStmt&>(stmt).value);
      break;
    case StmtKind::kSetBlock:
      Walk(static_cast<const SetBlockStmt&>(stmt).target);
      WalkIf(static_cast<const SetBlockStmt&>(stmt).filter);
      Walk(static_cast<const SetBlockStmt&>(stmt).block.body);
      break;
    case StmtKind::kMacro:
      WalkMacro(static_cast<const MacroStmt&>(stmt).def);
      break;
    case StmtKind::kCallBlock:
      Walk(*static_cast<const CallBlockStmt&>(stmt).call);
      WalkMacro(static_cast<const CallBlockStmt&>(stmt).def);
      break;
    case StmtKind::kGeneration:
      WalkMacro(static_cast<const GenerationStmt&>(stmt).def);
      break;
    case StmtKind::kFilterBlock:
      Walk(static_cast<const FilterBlockStmt&>(stmt).block.body);
      WalkIf(static_cast<const FilterBlockStmt&>(stmt).filter);
      break;
    case StmtKind::kWith: {
      const auto& with = static_cast<const WithStmt&>(stmt);
      for (const auto& [target, value] : with.assignments) Walk(target);
      for (const auto& [target, value] : with.assignments) Walk(*value);
      Walk(with.block.body);
      break;
    }
    case StmtKind::kBreak:
    case StmtKind::kContinue:
      break;
  }
}

}  // namespace

void ForEachChild(const Expr& expr, const Visit& visit) {
  switch (expr.kind) {
    case ExprKind::kConst:
    case ExprKind::kName:
      break;
    case ExprKind::kList:
    case ExprKind::kTuple:
      for (const ExprPtr& item : static_cast<const SequenceExpr&>(expr).items) visit(*item);
      break;
    case ExprKind::kDict:
      for (const auto& [key, value] : static_cast<const DictExpr&>(expr).entries) {
        visit(*key);
        visit(*value);
      }
      break;
    case ExprKind::kUnary:
      visit(*static_cast<const UnaryExpr&>(expr).operand);
      break;
    case ExprKind::kArithmetic:
      visit(*static_cast<const ArithmeticExpr&>(expr).first);
      for (const auto& [op, operand] : static_cast<const ArithmeticExpr&>(expr).rest) visit(*operand);
      break;
    case ExprKind::kLogic:
      for (const ExprPtr& operand : static_cast<const LogicExpr&>(expr).operands) visit(*operand);
      break;
    case ExprKind::kCompare:
      visit(*static_cast<const CompareExpr&>(expr).first);
      for (const auto& [op, operand] : static_cast<const CompareExpr&>(expr).rest) visit(*operand);
      break;
    case ExprKind::kConcat:
      for (const ExprPtr& operand : static_cast<const ConcatExpr&>(expr).operands) visit(*operand);
      break;
    case ExprKind::kConditional:
      visit(*static_cast<const ConditionalExpr&>(expr).test);
      visit(*static_cast<const ConditionalExpr&>(expr).if_true);
      VisitIf(static_cast<const ConditionalExpr&>(expr).if_false, visit);
      break;
    case ExprKind::kGetattr:
      visit(*static_cast<const GetattrExpr&>(expr).object);
      break;
    case ExprKind::kGetitem:
      visit(*static_cast<const GetitemExpr&>(expr).object);
      visit(*static_cast<const GetitemExpr&>(expr).index);
      break;
    case ExprKind::kSlice:
      visit(*static_cast<const SliceExpr&>(expr).object);
      VisitIf(static_cast<const SliceExpr&>(expr).start, visit);
      VisitIf(static_cast<const SliceExpr&>(expr).stop, visit);
      VisitIf(static_cast<const SliceExpr&>(expr).step, visit);
      break;
    case ExprKind::kCall:
      visit(*static_cast<const CallExpr&>(expr).callee);
      VisitArgs(static_cast<const CallExpr&>(expr).args, visit);
      break;
    case ExprKind::kFilter:
    case ExprKind::kTest:
      VisitIf(static_cast<const BuiltinExpr&>(expr).input, visit);
      VisitArgs(static_cast<const BuiltinExpr&>(expr).args, visit);
      break;
  }
}

std::set<NameId> UsedNames(const Body& body, std::set<NameId> names) {
  UseFinder finder(std::move(names));
  finder.Walk(body);
  return finder.used();
}

}  // namespace adit::chat
