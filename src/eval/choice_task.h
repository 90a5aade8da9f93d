#ifndef ADIT_EVAL_CHOICE_TASK_H_
#define ADIT_EVAL_CHOICE_TASK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "adit/status.h"
#include "engine/model_runner.h"
#include "eval/choice_item.h"
#include "eval/statistics.h"

namespace adit::eval {

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
  engine::ModelRunner& runner_;
  std::string examples_;
};

}  // namespace adit::eval

#endif  // ADIT_EVAL_CHOICE_TASK_H_
