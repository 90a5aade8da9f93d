#ifndef ADIT_CHAT_SCOPE_ANALYSIS_INTERNAL_H_
#define ADIT_CHAT_SCOPE_ANALYSIS_INTERNAL_H_

#include <functional>
#include <set>
#include <string>

#include "chat/ast.h"

namespace adit::chat {

// Calls `visit` for the direct children of an expression, in Jinja's order.
void ForEachChild(const Expr& expr, const std::function<void(const Expr&)>& visit);

// Which of `names` the statements, blocks inside them included, read before they assign them.
std::set<NameId> UsedNames(const Body& body, std::set<NameId> names);

// Says that a filter or test does not exist.
std::string UnknownBuiltin(const BuiltinExpr& expr);

}  // namespace adit::chat

#endif  // ADIT_CHAT_SCOPE_ANALYSIS_INTERNAL_H_
