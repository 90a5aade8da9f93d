#include "eval/choice_task.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "eval/text_windows.h"

namespace adit::eval {

Status ChoiceTask::Ask(const ChoiceItem& item, ChoiceScore& score) {
  const tokenizer::Tokenizer& tokenizer = runner_.model().tokenizer();
  const std::string context = examples_ + item.context;
  const std::vector<int32_t> before = tokenizer.Encode(context, false, true);
  std::vector<std::vector<int32_t>> all;
  size_t shared = before.size();  // tokens that all endings begin with
  int64_t longest = 0;
  for (const std::string& ending : item.endings) {
    all.push_back(tokenizer.Encode(context + " " + ending, false, true));
    const auto [a, b] = std::mismatch(before.begin(), before.end(), all.back().begin(), all.back().end());
    shared = std::min({shared, static_cast<size_t>(a - before.begin()), all.back().size() - 1});
    const auto size = static_cast<int64_t>(all.back().size());
    longest = std::max(longest, size);
    if (size > runner_.kv_capacity_tokens()) {
      return InvalidArgument("an item has {} tokens, the context is {}; --ctx sets it", size,
                             runner_.kv_capacity_tokens());
    }
  }
  if (shared == 0) return InvalidArgument("an item without a context: there is no token to begin with");
  // Pages behind a window are gone once an ending has been run.
  const kv::PageGroups groups = runner_.page_groups();
  const bool can_go_back =
      std::all_of(groups.windows.begin(), groups.windows.end(), [](int64_t window) { return window == 0; });
  const bool is_long = runner_.model().spec().IsLong(longest);
  std::optional<engine::SequenceCache> sequence;
  std::vector<double> sums;
  for (const std::vector<int32_t>& tokens : all) {
    if (!sequence || !can_go_back) sequence.emplace(runner_.NewSequence());
    sequence->Truncate(std::min<int64_t>(sequence->num_tokens(), static_cast<int64_t>(shared) - 1));
    double sum = 0.0;
    // The last shared token gives the first of the logits.
    ADIT_RETURN_IF_ERROR(ScoreTokens(runner_, *sequence, tokens, static_cast<int64_t>(shared) - 1, is_long,
                                     [&](std::span<const float> logits, int32_t next) {
                                       sum +=
                                           static_cast<double>(logits[static_cast<size_t>(next)]) - LogSumExp(logits);
                                     }));
    sums.push_back(sum);
  }
  std::vector<double> by_byte = sums;
  for (size_t i = 0; i < by_byte.size(); ++i) {
    by_byte[i] /= static_cast<double>(std::max<size_t>(item.endings[i].size(), 1));
  }
  const auto is_right = [&](const std::vector<double>& values) {
    return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin()) == item.answer;
  };
  score.accuracy.Add(is_right(sums) ? 1.0 : 0.0);
  score.normalised_accuracy.Add(is_right(by_byte) ? 1.0 : 0.0);
  return Status();
}

}  // namespace adit::eval
