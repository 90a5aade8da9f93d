#ifndef ADIT_EVAL_GREEDY_ANSWER_H_
#define ADIT_EVAL_GREEDY_ANSWER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adit/status.h"
#include "engine/model_runner.h"

namespace adit::eval {

struct AnswerLimits {
  std::vector<std::string> stops;  // the answer ends before the first of them
  int64_t max_tokens = 256;
};

// What the model of `runner` says after `prompt` when it takes the likeliest token each time, the lowest id of equals,
// up to a token that ends generation. InvalidArgument where prompt and answer may need more than the cache holds.
Result<std::string> GreedyAnswer(engine::ModelRunner& runner, std::span<const int32_t> prompt,
                                 const AnswerLimits& limits);

}  // namespace adit::eval

#endif  // ADIT_EVAL_GREEDY_ANSWER_H_
