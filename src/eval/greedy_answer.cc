#include "eval/greedy_answer.h"

#include <algorithm>

#include "base/error.h"

namespace adit::eval {
namespace {

// Where the first of the stop strings begins, or npos.
size_t StopOf(const std::string& text, const std::vector<std::string>& stops) {
  size_t first = std::string::npos;
  for (const std::string& stop : stops) first = std::min(first, text.find(stop));
  return first;
}

}  // namespace

Result<std::string> GreedyAnswer(engine::ModelRunner& runner, std::span<const int32_t> prompt,
                                 const AnswerLimits& limits) {
  const tokenizer::Tokenizer& tokenizer = runner.model().tokenizer();
  const int64_t whole = static_cast<int64_t>(prompt.size()) + limits.max_tokens;
  if (prompt.empty()) return InvalidArgument("a prompt without tokens");
  if (whole > runner.kv_capacity_tokens()) {
    return InvalidArgument("a prompt of {} tokens and an answer of {} are more than the context of {}; --ctx sets it",
                           prompt.size(), limits.max_tokens, runner.kv_capacity_tokens());
  }
  engine::SequenceCache sequence = runner.NewSequence();
  const bool is_long = runner.model().spec().IsLong(whole);
  const std::span<const int32_t> ends = tokenizer.end_of_generation_ids();
  tokenizer::DecodeState state;
  std::string answer;
  std::vector<int32_t> next(prompt.begin(), prompt.end());
  for (int64_t told = 0; told < limits.max_tokens; ++told) {
    std::span<const float> logits;
    for (size_t done = 0; done < next.size();) {
      const size_t count = std::min(next.size() - done, static_cast<size_t>(runner.max_batch_tokens()));
      const bool is_last = done + count == next.size();
      const engine::SequenceStep step{.sequence = &sequence,
                                      .tokens = std::span(next).subspan(done, count),
                                      .is_long = is_long,
                                      .logits = is_last ? engine::LogitsWanted::kLast : engine::LogitsWanted::kNone};
      ADIT_ASSIGN_OR_RETURN(logits, runner.Run(std::span(&step, 1)));
      done += count;
    }
    const auto token = static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
    if (std::ranges::find(ends, token) != ends.end()) break;
    tokenizer.DecodeNext(token, /*with_special=*/false, state, answer);
    if (StopOf(answer, limits.stops) != std::string::npos) break;
    next.assign(1, token);
  }
  tokenizer.DecodeEnd(state, answer);
  return answer.substr(0, StopOf(answer, limits.stops));
}

}  // namespace adit::eval
