#include "eval/text_windows.h"

#include <algorithm>

#include "base/error.h"

namespace adit::eval {

std::vector<int32_t> TextWindows::Window(int64_t index) const {
  const auto begin = tokens.begin() + index * context;
  std::vector<int32_t> window(begin, begin + context);
  if (bos) window.front() = *bos;
  return window;
}

Result<TextWindows> CutText(const tokenizer::Tokenizer& tokenizer, std::string_view text, int64_t context,
                            std::optional<int64_t> limit) {
  if (context < 4) return InvalidArgument("a window of {} tokens is too small; it has at least 4", context);
  TextWindows windows;
  windows.context = context;
  windows.tokens = tokenizer.Encode(text, /*parse_special=*/false, /*add_special=*/true);
  const auto num_tokens = static_cast<int64_t>(windows.tokens.size());
  if (num_tokens < 2 * context) {
    return InvalidArgument("the text has {} tokens; two windows of {} need {}", num_tokens, context, 2 * context);
  }
  const int64_t num_windows = std::min(num_tokens / context, limit.value_or(num_tokens));
  windows.tokens.resize(static_cast<size_t>(num_windows * context));
  if (tokenizer.adds_bos()) windows.bos = tokenizer.bos_id();
  return windows;
}

Status ScoreTokens(engine::ModelRunner& runner, engine::SequenceCache& sequence, std::span<const int32_t> tokens,
                   int64_t first, bool is_long, const RowFunction& row) {
  const int64_t vocab_size = runner.model().spec().vocab_size;
  const int64_t last = static_cast<int64_t>(tokens.size()) - 1;  // the last token predicts nothing that is known
  for (int64_t position = sequence.num_tokens(); position < last;) {
    const bool is_scored = position >= first;
    const int64_t end = std::min(is_scored ? last : first, position + runner.max_batch_tokens());
    const engine::SequenceStep step{
        .sequence = &sequence,
        .tokens = tokens.subspan(static_cast<size_t>(position), static_cast<size_t>(end - position)),
        .is_long = is_long,
        .logits = is_scored ? engine::LogitsWanted::kAll : engine::LogitsWanted::kNone};
    ADIT_ASSIGN_OR_RETURN(const std::span<const float> logits, runner.Run(std::span(&step, 1)));
    for (int64_t i = position; is_scored && i < end; ++i) {
      row(logits.subspan(static_cast<size_t>((i - position) * vocab_size), static_cast<size_t>(vocab_size)),
          tokens[static_cast<size_t>(i + 1)]);
    }
    position = end;
  }
  return Status();
}

Status RunWindow(engine::ModelRunner& runner, const TextWindows& windows, int64_t index, const RowFunction& row) {
  engine::SequenceCache sequence = runner.NewSequence();
  return ScoreTokens(runner, sequence, windows.Window(index), windows.first_scored(),
                     runner.model().spec().IsLong(windows.context), row);
}

int64_t PassTokens(int64_t vocab_size, int64_t context) {
  constexpr int64_t kMaxLogitBytes = int64_t{64} << 20;
  constexpr int64_t kMostTokens = 512;
  return std::clamp<int64_t>(kMaxLogitBytes / (vocab_size * int64_t{sizeof(float)}), 1, std::min(kMostTokens, context));
}

}  // namespace adit::eval
