#ifndef ADIT_CHAT_PARSER_INTERNAL_H_
#define ADIT_CHAT_PARSER_INTERNAL_H_

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "chat/ast.h"
#include "chat/lexer.h"

namespace adit::chat {

// Recursive descent over the tokens of one template, by Jinja's grammar and precedence: if-else, or, and, not,
// comparisons and in, + -, ~, * / // %, **, unary signs, postfixes, filters and tests.
class Parser {
 public:
  Parser(std::vector<Token> tokens, ParsedTemplate& out) : tokens_(std::move(tokens)), out_(out) {}

  Result<Body> ParseRoot();

 private:
  // Counts nesting while it lives.
  class Nesting {
   public:
    explicit Nesting(int* depth) : depth_(depth) { ++*depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --*depth_; }

   private:
    int* depth_;
  };
  using Names = std::vector<std::string_view>;

  // Tokens.
  const Token& current() const { return tokens_[pos_]; }
  const Token& next() const { return tokens_[std::min(pos_ + 1, tokens_.size() - 1)]; }
  int line() const { return current().line; }
  void Advance();
  bool SkipName(std::string_view name);
  bool SkipOperator(std::string_view op);
  Status Expect(TokenType type, std::string_view text);
  Status ExpectOperator(std::string_view op) { return Expect(TokenType::kOperator, op); }
  Result<const Str*> ExpectName();
  bool AtName(const Names& names) const;

  // Nodes.
  NameId Intern(std::string_view name);
  const Str* NewText(std::string_view text);
  ExprPtr NewConst(int at_line, const Value& value) const;
  static void Adopt(Expr& parent, const ExprPtr& child);
  static void Adopt(Expr& parent, const CallArgsExpr& args);
  Status CheckHeight(const Expr& expr) const;
  Status CheckDepth() const;

  // Statements: parser_statement.cc.
  Result<Body> ParseBody(const Names& end_tags);
  Result<Body> ParseStatements(const Names& end_tags);
  Result<Body> ParseStatementsAndDrop(std::string_view end_tag);
  Result<StmtPtr> ParseStatement(const Names& end_tags);
  Result<StmtPtr> ParseIf();
  Result<StmtPtr> ParseFor();
  Result<StmtPtr> ParseSet();
  Result<StmtPtr> ParseWith();
  Result<StmtPtr> ParseMacro();
  Result<StmtPtr> ParseCallBlock();
  Result<StmtPtr> ParseFilterBlock();
  Result<StmtPtr> ParseGeneration();
  Result<StmtPtr> ParsePrint();
  Result<StmtPtr> ParseLoopControl();
  Status ParseSignature(MacroDef* def);
  Status ParseMacroBody(std::string_view end_tag, MacroDef* def);
  Status UnknownTag(const Token& tag, const Names& end_tags) const;

  // Targets of assignments: parser_statement.cc.
  Result<Target> ParseTarget(const Names& end_names, bool with_namespace);
  Result<Target> ParseTargetItem(bool with_namespace);
  Result<Target> ToTarget(const Expr& expr) const;
  Status CheckTarget(const Target& target, int line) const;

  // Expressions: parser_expression.cc.
  Result<ExprPtr> ParseExpression(bool with_conditional = true);
  Result<ExprPtr> ParseTuple(bool with_conditional, const Names& end_names, bool in_parentheses);
  bool AtTupleEnd(const Names& end_names) const;
  Result<ExprPtr> ParseConditional();
  Result<ExprPtr> ParseLogic(bool is_or);
  Result<ExprPtr> ParseNot();
  Result<ExprPtr> ParseCompare();
  bool TakeCompareOp(CompareOp* op);
  Result<ExprPtr> ParseSum();
  Result<ExprPtr> ParseConcat();
  Result<ExprPtr> ParseProduct();
  Result<ExprPtr> ParsePower();
  bool TakeArithmeticOp(std::string_view ops, ArithmeticOp* op);
  Result<ExprPtr> ParseUnary(bool with_filters);
  Result<ExprPtr> ParsePrimary();
  Result<ExprPtr> ParseNameOrConstant();
  Result<ExprPtr> ParseString();
  Result<ExprPtr> ParseList();
  Result<ExprPtr> ParseDict();

  // Postfixes, calls, filters and tests: parser_postfix.cc.
  Result<ExprPtr> ParsePostfix(ExprPtr expr);
  Result<ExprPtr> ParseFiltersAndTests(ExprPtr expr);
  Result<ExprPtr> ParseDot(ExprPtr object);
  Result<ExprPtr> ParseSubscript(ExprPtr object);
  Result<ExprPtr> ParseSlice(ExprPtr object, ExprPtr start, int line);
  Result<ExprPtr> ParseCall(ExprPtr callee);
  Result<CallArgsExpr> ParseCallArgs();
  Status ParseCallArg(CallArgsExpr* args);
  Result<ExprPtr> ParseFilter(ExprPtr input);  // the name and arguments, after the |
  Result<ExprPtr> ParseTest(ExprPtr input);
  Result<const Str*> ParseDottedName();

  const std::vector<Token> tokens_;
  size_t pos_ = 0;
  ParsedTemplate& out_;
  int depth_ = 0;
  int loop_depth_ = 0;  // loops that a break here could end
  int for_depth_ = 0;   // loops around, macros or not
};

}  // namespace adit::chat

#endif  // ADIT_CHAT_PARSER_INTERNAL_H_
