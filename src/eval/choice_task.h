#ifndef ADIT_EVAL_CHOICE_TASK_H_
#define ADIT_EVAL_CHOICE_TASK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "engine/model_runner.h"
#include "eval/statistics.h"

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

// How often the right ending is the most likely.
struct ChoiceScore {
  MeanWithError accuracy;             // by the sum of the log-probabilities of its tokens
  MeanWithError normalised_accuracy;  // by that for each byte of the ending
};

// Asks the model of `runner` items, each after `examples`.
class ChoiceTask {
 public:
  ChoiceTask(engine::ModelRunner& runner, std::string examples) : runner_(runner), examples_(std::move(examples)) {}

  // InvalidArgument for an item with more tokens than the cache of the runner holds.
  Status Ask(const ChoiceItem& item, ChoiceScore& score);

 private:
  // Log-probability of the tokens from `begin` on after those before, of which `sequence` holds some already.
  Result<double> LogLikelihood(engine::SequenceCache& sequence, const std::vector<int32_t>& tokens, size_t begin,
                               bool is_long);

  engine::ModelRunner& runner_;
  std::string examples_;
};

}  // namespace adit::eval

#endif  // ADIT_EVAL_CHOICE_TASK_H_
