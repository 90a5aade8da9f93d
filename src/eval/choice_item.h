#ifndef ADIT_EVAL_CHOICE_ITEM_H_
#define ADIT_EVAL_CHOICE_ITEM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"

namespace adit::eval {

// A question whose answer is the most likely of several endings.
struct ChoiceItem {
  std::string context;
  std::vector<std::string> endings;  // without the space that joins them to the context
  size_t answer = 0;
};

// A line of HellaSwag (Zellers et al. 2019): "endings", "label", and "ctx_a" and "ctx_b" or "ctx"; "activity_label"
// goes before. Marks of WikiHow in brackets are taken out, as lm-evaluation-harness does. Corrupt, with `name` and what
// is wrong, for another shape.
Result<ChoiceItem> ParseHellaSwag(std::string_view line, const std::string& name);
// A line of MMLU (Hendrycks et al. 2021): "question", "choices", and "answer" as a number from 0 or a letter. The
// endings are the letters A, B, ...
Result<ChoiceItem> ParseMmlu(std::string_view line, const std::string& name);

// An item with its answer, as an example before another.
std::string AsExample(const ChoiceItem& item);

}  // namespace adit::eval

#endif  // ADIT_EVAL_CHOICE_ITEM_H_
