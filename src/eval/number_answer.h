#ifndef ADIT_EVAL_NUMBER_ANSWER_H_
#define ADIT_EVAL_NUMBER_ANSWER_H_

#include <optional>
#include <string>
#include <string_view>

#include "adit/status.h"

namespace adit::eval {

// A question whose answer is a number at the end of some reasoning.
struct NumberItem {
  std::string question;
  std::string reasoning;  // with the number, as an example shows it
  std::string number;     // as NormalisedNumber has it
};

// A line of GSM8K (Cobbe et al. 2021): "question", and "answer" that ends in "#### 42". Corrupt, with `name` and what
// is wrong, for another shape.
Result<NumberItem> ParseGsm8k(std::string_view line, const std::string& name);

// As lm-evaluation-harness asks: "Question: ...\nAnswer:"; an item with its answer is an example before others.
std::string NumberPrompt(const NumberItem& item);
std::string AsNumberExample(const NumberItem& item);

// Without commas, dollar signs and a full stop at the end: "1,234." becomes "1234".
std::string NormalisedNumber(std::string_view text);

// The number that an answer gives behind "####"; and the last number in it, whatever is before it: the two filters of
// lm-evaluation-harness, "strict-match" and "flexible-extract". Normalised; none where there is none.
std::optional<std::string> MarkedNumber(std::string_view answer);
std::optional<std::string> LastNumber(std::string_view answer);

}  // namespace adit::eval

#endif  // ADIT_EVAL_NUMBER_ANSWER_H_
