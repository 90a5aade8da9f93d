#ifndef ADIT_CHAT_AST_H_
#define ADIT_CHAT_AST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "chat/heap.h"
#include "chat/value.h"

// A parsed template. Constant once parsed, so any number of renders may share it.
namespace adit::chat {

// Index of a variable's name in the program.
using NameId = int32_t;

enum class ExprKind : uint8_t {
  kConst,
  kName,
  kList,
  kTuple,
  kDict,
  kUnary,
  kArithmetic,
  kLogic,
  kCompare,
  kConcat,
  kConditional,
  kGetattr,
  kGetitem,
  kSlice,
  kCall,
  kFilter,
  kTest,
};

struct Expr {
  Expr(ExprKind of_kind, int at_line) : kind(of_kind), line(at_line) {}
  virtual ~Expr() = default;

  ExprKind kind;
  int line;
  int height = 1;  // longest path down to a leaf; the parser bounds it
};
using ExprPtr = std::unique_ptr<Expr>;

struct ConstExpr : Expr {
  explicit ConstExpr(int at_line) : Expr(ExprKind::kConst, at_line) {}
  Value value;
};

struct NameExpr : Expr {
  explicit NameExpr(int at_line) : Expr(ExprKind::kName, at_line) {}
  NameId name = 0;
};

// kList and kTuple.
struct SequenceExpr : Expr {
  SequenceExpr(ExprKind of_kind, int at_line) : Expr(of_kind, at_line) {}
  std::vector<ExprPtr> items;
};

struct DictExpr : Expr {
  explicit DictExpr(int at_line) : Expr(ExprKind::kDict, at_line) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> entries;
};

enum class UnaryOp : uint8_t { kNegate, kPlus, kNot };

struct UnaryExpr : Expr {
  explicit UnaryExpr(int at_line) : Expr(ExprKind::kUnary, at_line) {}
  UnaryOp op = UnaryOp::kNot;
  ExprPtr operand;
};

enum class ArithmeticOp : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kFloorDivide, kModulo, kPower };

// first op operand op operand ..., from left to right.
struct ArithmeticExpr : Expr {
  explicit ArithmeticExpr(int at_line) : Expr(ExprKind::kArithmetic, at_line) {}
  ExprPtr first;
  std::vector<std::pair<ArithmeticOp, ExprPtr>> rest;
};

// `and` or `or` of two or more operands.
struct LogicExpr : Expr {
  explicit LogicExpr(int at_line) : Expr(ExprKind::kLogic, at_line) {}
  bool is_or = false;
  std::vector<ExprPtr> operands;
};

enum class CompareOp : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual, kIn, kNotIn };

struct CompareExpr : Expr {
  explicit CompareExpr(int at_line) : Expr(ExprKind::kCompare, at_line) {}
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};

struct ConcatExpr : Expr {
  explicit ConcatExpr(int at_line) : Expr(ExprKind::kConcat, at_line) {}
  std::vector<ExprPtr> operands;
};

struct ConditionalExpr : Expr {
  explicit ConditionalExpr(int at_line) : Expr(ExprKind::kConditional, at_line) {}
  ExprPtr test;
  ExprPtr if_true;
  ExprPtr if_false;  // may be null
};

struct GetattrExpr : Expr {
  explicit GetattrExpr(int at_line) : Expr(ExprKind::kGetattr, at_line) {}
  ExprPtr object;
  const Str* name = nullptr;
};

struct GetitemExpr : Expr {
  explicit GetitemExpr(int at_line) : Expr(ExprKind::kGetitem, at_line) {}
  ExprPtr object;
  ExprPtr index;
};

// Any of the bounds may be null.
struct SliceExpr : Expr {
  explicit SliceExpr(int at_line) : Expr(ExprKind::kSlice, at_line) {}
  ExprPtr object;
  ExprPtr start;
  ExprPtr stop;
  ExprPtr step;
};

struct CallArgsExpr {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<const Str*, ExprPtr>> keywords;
  ExprPtr star;         // *args, may be null
  ExprPtr double_star;  // **kwargs, may be null
};

struct CallExpr : Expr {
  explicit CallExpr(int at_line) : Expr(ExprKind::kCall, at_line) {}
  ExprPtr callee;
  CallArgsExpr args;
};

// kFilter and kTest.
struct BuiltinExpr : Expr {
  BuiltinExpr(ExprKind of_kind, int at_line) : Expr(of_kind, at_line) {}
  ExprPtr input;  // null in a filter block or set block: what the block printed
  const Str* name = nullptr;
  const Builtin* builtin = nullptr;  // null if there is none of this name: an error once evaluated
  CallArgsExpr args;
};

// What is assigned to.
struct Target {
  enum class Kind : uint8_t { kName, kNamespace, kTuple };
  Kind kind = Kind::kName;
  NameId name = 0;              // of the variable, or of the namespace
  const Str* member = nullptr;  // kNamespace
  std::vector<Target> items;    // kTuple
};

enum class StmtKind : uint8_t {
  kOutput,
  kIf,
  kFor,
  kSet,
  kSetBlock,
  kMacro,
  kCallBlock,
  kGeneration,
  kFilterBlock,
  kWith,
  kBreak,
  kContinue,
};

struct Stmt {
  Stmt(StmtKind of_kind, int at_line) : kind(of_kind), line(at_line) {}
  virtual ~Stmt() = default;

  StmtKind kind;
  int line;
};
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

// Statements with variables of their own. A name that the block assigns before it mentions it otherwise, and that
// no outer block knows, is undefined until then even if the context has it: Jinja decides this when it compiles.
struct Block {
  Body body;
  std::vector<NameId> undefined_at_entry;
};

struct OutputStmt : Stmt {
  explicit OutputStmt(int at_line) : Stmt(StmtKind::kOutput, at_line) {}
  std::vector<ExprPtr> items;
};

struct IfStmt : Stmt {
  explicit IfStmt(int at_line) : Stmt(StmtKind::kIf, at_line) {}
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body else_body;
};

struct ForStmt : Stmt {
  explicit ForStmt(int at_line) : Stmt(StmtKind::kFor, at_line) {}
  Target target;
  ExprPtr iterable;
  ExprPtr test;  // may be null
  bool recursive = false;
  Block body;
  Block else_block;
};

struct SetStmt : Stmt {
  explicit SetStmt(int at_line) : Stmt(StmtKind::kSet, at_line) {}
  Target target;
  ExprPtr value;
};

struct SetBlockStmt : Stmt {
  explicit SetBlockStmt(int at_line) : Stmt(StmtKind::kSetBlock, at_line) {}
  Target target;
  ExprPtr filter;  // a chain of BuiltinExpr, may be null
  Block block;
};

struct MacroParam {
  NameId name = 0;
  ExprPtr fallback;  // may be null
};

// A macro, or the body of a call or generation block.
struct MacroDef {
  const Str* name = nullptr;  // null for the body of a block
  std::vector<MacroParam> params;
  Block block;
  // Which of the special variables the body mentions, and so the macro takes.
  bool takes_caller = false;
  bool takes_kwargs = false;
  bool takes_varargs = false;
};

struct MacroStmt : Stmt {
  explicit MacroStmt(int at_line) : Stmt(StmtKind::kMacro, at_line) {}
  NameId name = 0;
  MacroDef def;
};

struct CallBlockStmt : Stmt {
  explicit CallBlockStmt(int at_line) : Stmt(StmtKind::kCallBlock, at_line) {}
  MacroDef def;
  ExprPtr call;  // a CallExpr
};

struct GenerationStmt : Stmt {
  explicit GenerationStmt(int at_line) : Stmt(StmtKind::kGeneration, at_line) {}
  MacroDef def;
};

struct FilterBlockStmt : Stmt {
  explicit FilterBlockStmt(int at_line) : Stmt(StmtKind::kFilterBlock, at_line) {}
  ExprPtr filter;
  Block block;
};

struct WithStmt : Stmt {
  explicit WithStmt(int at_line) : Stmt(StmtKind::kWith, at_line) {}
  std::vector<std::pair<Target, ExprPtr>> assignments;
  Block block;
};

struct BreakStmt : Stmt {
  explicit BreakStmt(int at_line) : Stmt(StmtKind::kBreak, at_line) {}
};

struct ContinueStmt : Stmt {
  explicit ContinueStmt(int at_line) : Stmt(StmtKind::kContinue, at_line) {}
};

struct ParsedTemplate {
  Heap constants{Heap::Limits{}};  // literals and names
  std::vector<const Str*> names;   // by NameId
  std::unordered_map<std::string_view, NameId> name_ids;
  // Names with a meaning of their own.
  NameId loop = 0;
  NameId caller = 0;
  NameId kwargs = 0;
  NameId varargs = 0;
  Block root;
};

}  // namespace adit::chat

#endif  // ADIT_CHAT_AST_H_
