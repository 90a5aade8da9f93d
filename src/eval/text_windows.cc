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

Status RunWindow(engine::ModelRunner& runner, const TextWindows& windows, int64_t index, const RowFunction& row) {
  const std::vector<int32_t> window = windows.Window(index);
  const bool is_long = runner.model().spec().IsLong(windows.context);
  const int64_t vocab_size = runner.model().spec().vocab_size;
  engine::SequenceCache sequence = runner.NewSequence();
  const int64_t last = windows.context - 1;  // the last token predicts nothing that is known
  for (int64_t position = 0; position < last;) {
    const bool is_scored = position >= windows.first_scored();
    const int64_t end = std::min(is_scored ? last : windows.first_scored(), position + runner.max_batch_tokens());
    const engine::SequenceStep step{
        .sequence = &sequence,
        .tokens = std::span(window).subspan(static_cast<size_t>(position), static_cast<size_t>(end - position)),
        .is_long = is_long,
        .logits = is_scored ? engine::LogitsWanted::kAll : engine::LogitsWanted::kNone};
    ADIT_ASSIGN_OR_RETURN(const std::span<const float> logits, runner.Run(std::span(&step, 1)));
    if (is_scored) {
      for (int64_t i = position; i < end; ++i) {
        row(logits.subspan(static_cast<size_t>((i - position) * vocab_size), static_cast<size_t>(vocab_size)),
            window[static_cast<size_t>(i + 1)]);
      }
    }
    position = end;
  }
  return Status();
}

int64_t PassTokens(int64_t vocab_size, int64_t context) {
  constexpr int64_t kMaxLogitBytes = int64_t{64} << 20;
  constexpr int64_t kMostTokens = 512;
  return std::clamp<int64_t>(kMaxLogitBytes / (vocab_size * int64_t{sizeof(float)}), 1, std::min(kMostTokens, context));
}

}  // namespace adit::eval
