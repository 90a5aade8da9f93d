#ifndef ADIT_GRAMMAR_RULE_CHECK_H_
#define ADIT_GRAMMAR_RULE_CHECK_H_

#include <string_view>

#include "adit/status.h"

namespace adit::grammar {

inline constexpr size_t kMaxRuleBytes = size_t{64} << 10;
inline constexpr int kMaxRuleDepth = 64;
inline constexpr int64_t kMaxRuleCopies = 65536;

// Whether rules such as `root ::= "yes" | "no"` keep to the limits: their size, how deeply groups lie in each other,
// and how often something is repeated; and whether there is a rule `root`. What else may be wrong in them the compiler
// tells. InvalidArgument with the line.
Status CheckRules(std::string_view rules);

}  // namespace adit::grammar

#endif  // ADIT_GRAMMAR_RULE_CHECK_H_
