#ifndef ADIT_EVAL_NEEDLE_H_
#define ADIT_EVAL_NEEDLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "tokenizer/tokenizer.h"

namespace adit::eval {

// A sentence hidden in a long text, and what asks for it: whether a model finds it tells how far back it can look
// (Kamradt 2023, "needle in a haystack"; the passkey of Mohtashami and Jaggi 2023).
struct Needle {
  std::string sentence;  // " The access code of the green archive is 4821967. "
  std::string question;  // "... The access code of the green archive is"
  std::string answer;    // "4821967"
};

// The `index`-th needle of a seed: all differ.
Needle MakeNeedle(uint64_t seed, uint64_t index);

// A prompt of exactly `length` tokens: `haystack`, repeated where it is shorter, with the sentence in it and the
// question at its end. `depth`: where the sentence is, 0 at the beginning to 1 right before the question; it is moved
// back to the end of a sentence of the haystack where one is near. InvalidArgument for an empty haystack, or a length
// that sentence and question fill.
Result<std::vector<int32_t>> NeedlePrompt(const tokenizer::Tokenizer& tokenizer, std::span<const int32_t> haystack,
                                          const Needle& needle, int64_t length, double depth);

}  // namespace adit::eval

#endif  // ADIT_EVAL_NEEDLE_H_
