#ifndef ADIT_ENGINE_ANSWER_GRAMMAR_H_
#define ADIT_ENGINE_ANSWER_GRAMMAR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "adit/grammar.h"
#include "adit/status.h"
#include "grammar/grammar.h"

namespace adit::engine {

// Holds one answer to its grammar: which tokens may come next. Stands by the answer's tokens alone, so it need not be
// told when the answer is preempted and computed again. One thread at a time.
class AnswerGrammar {
 public:
  // `end_tokens`: the model's own that end a generation, which the grammar allows where the text may end. Outlive the
  // object.
  AnswerGrammar(const Grammar& grammar, std::span<const int32_t> end_tokens);

  // The tokens that may come next; empty: all may. With `may_end` off those that end the generation may not. Valid
  // until Accept.
  Result<std::span<const uint32_t>> Mask(bool may_end);

  // Takes the token that was chosen. True when no token can come after it but such as end the generation.
  Result<bool> Accept(int32_t token);

 private:
  enum class State : unsigned char { kUnknown, kAll, kMasked };

  Status Fill();
  bool AllowsText() const;

  const std::span<const int32_t> end_tokens_;
  std::unique_ptr<grammar::Matcher> matcher_;
  std::vector<uint32_t> mask_;       // of the next token
  std::vector<uint32_t> text_mask_;  // without those that end the generation
  State state_ = State::kUnknown;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_ANSWER_GRAMMAR_H_
