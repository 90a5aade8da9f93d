#ifndef ADIT_CHAT_EVALUATOR_H_
#define ADIT_CHAT_EVALUATOR_H_

#include <ctime>
#include <string_view>

#include "adit/status.h"
#include "chat/ast.h"
#include "chat/builtin.h"
#include "chat/container.h"
#include "chat/heap.h"
#include "chat/template.h"
#include "chat/text.h"
#include "chat/value.h"

namespace adit::chat {

struct Binding {
  NameId name = 0;
  Value value;  // kMissing: undefined, whatever outer scopes hold
};

// Variables of one run through a block, inside those of the blocks around it.
struct Scope {
  Scope* parent = nullptr;  // null: the variables of the template itself
  Binding* bindings = nullptr;
  uint32_t size = 0;
  uint32_t capacity = 0;
  bool captured = false;  // a macro may still read it after the block
};

// A `for` loop under way: what templates see as `loop`.
struct Loop {
  const ForStmt* stmt = nullptr;
  Scope* scope = nullptr;       // around the loop
  Scope* test_scope = nullptr;  // of its `if`
  Iteration items;
  int64_t depth0 = 0;
  int64_t index0 = -1;
  Value before;
  Value current;
  Value after;                   // kMissing unless the next item was looked at early
  Value changed;                 // what loop.changed saw last
  std::span<const Value> ahead;  // items taken early to count them
  bool counted = false;
  int64_t length = 0;  // valid if counted
};

// Runs one template once. Errors carry no line; line() says where evaluation was.
class Evaluator {
 public:
  Evaluator(const ParsedTemplate& program, const RenderOptions& options, Heap& heap);

  // Binds the entries of `context`, whose keys are strings, and writes the output.
  Status Run(const Dict& context, StringBuilder& out);
  int line() const { return line_; }

  // For filters, tests, methods and functions.
  Heap& heap() { return heap_; }
  const RenderOptions& options() const { return options_; }
  // object.name: an attribute, else an element.
  Result<Value> GetAttr(const Value& object, const Str& name);
  // object[index]: an element, else an attribute if index is a string.
  Result<Value> GetItem(const Value& object, const Value& index);
  // An attribute, kMissing if there is none. Attributes that a sandbox forbids are undefined.
  Result<Value> FindAttribute(const Value& object, const Str& name);
  Result<Value> Call(const Value& callee, const CallArgs& args);
  Result<Value> CallFilter(std::string_view name, const Value& input, const CallArgs& args);
  Result<bool> CallTest(std::string_view name, const Value& input, const CallArgs& args);
  // Of a loop under way: whether there is another item, and the number of all.
  Result<bool> HasNext(Loop& loop);
  Result<int64_t> LengthOf(Loop& loop);
  // The error of raise_exception, told to the caller as it is.
  Status Raise(std::string_view message);
  bool raised() const { return raised_; }

 private:
  enum class Flow { kNormal, kBreak, kContinue };

  // Statements: eval_statement.cc.
  Result<Flow> Exec(const Body& body);
  Result<Flow> Exec(const Stmt& stmt);
  Status ExecOutput(const OutputStmt& stmt);
  Result<Flow> ExecIf(const IfStmt& stmt);
  Status ExecSet(const SetStmt& stmt);
  Result<Flow> ExecSetBlock(const SetBlockStmt& stmt);
  Status ExecMacro(const MacroStmt& stmt);
  Status ExecCallBlock(const CallBlockStmt& stmt);
  Status ExecGeneration(const GenerationStmt& stmt);
  Result<Flow> ExecFilterBlock(const FilterBlockStmt& stmt);
  Result<Flow> ExecWith(const WithStmt& stmt);
  // Runs a block in a scope inside the present one. With `out`, collects what it prints there.
  Result<Flow> ExecBlock(const Block& block, Scope* scope, StringBuilder* out);
  Status Write(const Value& value) { return AppendValue(value, *out_); }
  Status AppendValue(const Value& value, StringBuilder& out);

  // Variables: eval_scope.cc.
  Scope* NewScope(Scope* parent);
  void EnterBlock(const Block& block, Scope& scope);
  void Bind(Scope* scope, NameId name, const Value& value);
  const Value* Lookup(NameId name) const;
  Value Read(NameId name);
  Status Assign(const Target& target, const Value& value, Scope* scope);
  Status CheckNamespaces(const Target& target) const;
  Value NewMacro(const MacroDef& def);

  // Loops: eval_loop.cc.
  Result<Flow> ExecFor(const ForStmt& stmt);
  Status RunLoop(const ForStmt& stmt, const Value& iterable, Scope* scope, int64_t depth0, Flow* flow);
  Status RunIterations(Loop& loop, bool* completed_any);
  Result<bool> Advance(Loop& loop);
  Result<bool> TakeItem(Loop& loop, Value* item);
  Result<Value> RecurseLoop(const Loop& loop, const CallArgs& args);
  Result<Value> LoopAttribute(Loop& loop, std::string_view name);

  // Expressions: eval_expression.cc.
  Result<Value> Eval(const Expr& expr);
  Result<Value> EvalKind(const Expr& expr);
  Result<Value> EvalSequence(const SequenceExpr& expr);
  Result<Value> EvalDict(const DictExpr& expr);
  Result<Value> EvalUnary(const UnaryExpr& expr);
  Result<Value> EvalArithmetic(const ArithmeticExpr& expr);
  Result<Value> EvalLogic(const LogicExpr& expr);
  Result<Value> EvalCompare(const CompareExpr& expr);
  Result<Value> EvalConcat(const ConcatExpr& expr);
  Result<Value> EvalConditional(const ConditionalExpr& expr);
  Result<Value> EvalGetattr(const GetattrExpr& expr);
  Result<Value> EvalGetitem(const GetitemExpr& expr);
  Result<Value> EvalSlice(const SliceExpr& expr);
  Result<Value> EvalOptional(const ExprPtr& expr);

  // Calls: eval_call.cc.
  Result<Value> EvalCall(const CallExpr& expr, const Value& caller);
  Result<CallArgs> EvalArgs(const CallArgsExpr& args, const Value& caller);
  Result<Value> EvalBuiltin(const BuiltinExpr& expr, const Value& printed);
  Result<Value> CallFunction(const Function& function, const CallArgs& args);
  Result<Value> CallMacro(const Macro& macro, const CallArgs& args);
  Status BindMacroArgs(const MacroDef& def, const CallArgs& args, Scope& scope);
  Status BindSpecialArgs(const MacroDef& def, const CallArgs& args, std::span<const KeywordArg> extra, Scope& scope);
  Status EnterCall();

  const ParsedTemplate& program_;
  const RenderOptions& options_;
  Heap& heap_;
  Value* globals_ = nullptr;  // by NameId: variables of the template, the context and global functions
  Scope* scope_ = nullptr;
  StringBuilder* out_ = nullptr;
  int line_ = 1;
  int eval_depth_ = 0;
  int call_depth_ = 0;
  bool raised_ = false;
};

}  // namespace adit::chat

#endif  // ADIT_CHAT_EVALUATOR_H_
