#ifndef ADIT_SERVER_THINKING_BUDGET_H_
#define ADIT_SERVER_THINKING_BUDGET_H_

#include <cstdint>

#include "adit/grammar.h"
#include "adit/status.h"
#include "server/output_format.h"
#include "tokenizer/tokenizer.h"

namespace adit::server {

// How long a model may think.
struct ThinkingBudget {
  int64_t tokens = 0;                                // of thoughts; then the mark that ends them is written for it
  ReasoningSyntax syntax = ReasoningSyntax::kThink;  // kOpenedThink: the prompt has opened them
};

// A grammar that holds an answer to a budget and to nothing else. Unsupported for a model that writes no thoughts, and
// where the vocabulary cannot write what ends them. `tokenizer` outlives the grammar.
Result<GrammarPtr> MakeThinkingBudget(const ThinkingBudget& budget, const tokenizer::Tokenizer& tokenizer);

// A grammar that holds an answer to both; `budget` is null, or from MakeThinkingBudget.
GrammarPtr WithThinkingBudget(const GrammarPtr& budget, GrammarPtr text);

// Whether it is a budget that no other grammar has joined.
bool IsBudgetAlone(const GrammarPtr& grammar);

}  // namespace adit::server

#endif  // ADIT_SERVER_THINKING_BUDGET_H_
