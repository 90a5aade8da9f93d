#ifndef ADIT_CHAT_OPERATORS_H_
#define ADIT_CHAT_OPERATORS_H_

#include "adit/status.h"
#include "chat/ast.h"
#include "chat/heap.h"
#include "chat/value.h"

// Python's operators on values. InvalidArgument, in Python's words, for types an operator does not take.
namespace adit::chat {

// Numbers, texts, lists and tuples; % also formats. Integers beyond 64 bits are errors.
Result<Value> Arithmetic(ArithmeticOp op, const Value& left, const Value& right, Heap& heap);
Result<Value> Negate(const Value& operand);
Result<Value> Plus(const Value& operand);

// The sign of an operator: "+".
const char* OperatorSign(ArithmeticOp op);

// left + right of strings. If one is markup, the other is escaped and the result is markup.
const Str* AddStrings(const Str& left, const Str& right, Heap& heap);

// `str` with & < > " ' as HTML entities, as markup; markup itself is returned as it is.
const Str* EscapeHtml(const Str& str, Heap& heap);

// left % right for a string on the left: format_percent.cc.
Result<Value> FormatPercent(const Str& format, const Value& args, Heap& heap);

}  // namespace adit::chat

#endif  // ADIT_CHAT_OPERATORS_H_
