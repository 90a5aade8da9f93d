#ifndef ADIT_EVAL_TEXT_WINDOWS_H_
#define ADIT_EVAL_TEXT_WINDOWS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "adit/status.h"
#include "engine/model_runner.h"
#include "tokenizer/tokenizer.h"

namespace adit::eval {

// A text cut into windows of `context` tokens that are run each by itself. In each, positions from context / 2 on are
// scored, so that every scored token has at least half a window before it; where the model's texts begin with BOS, the
// first token of each window gives way to it. These are llama.cpp's windows, so that figures compare.
struct TextWindows {
  std::vector<int32_t> tokens;  // [num_windows * context], without those BOS
  int64_t context = 0;
  std::optional<int32_t> bos;  // put at the start of each window

  int64_t num_windows() const { return static_cast<int64_t>(tokens.size()) / context; }
  // Positions whose next token is scored: [first_scored(), context - 1).
  int64_t first_scored() const { return context / 2; }
  int64_t scored_per_window() const { return context - 1 - first_scored(); }
  // Tokens of a window as the model sees them.
  std::vector<int32_t> Window(int64_t index) const;
};

// Tokens of `text`, control tokens in it read as text, cut into windows; what is left over at the end is let go. At
// most `limit` windows. InvalidArgument for a text shorter than two windows, or a context below 4.
Result<TextWindows> CutText(const tokenizer::Tokenizer& tokenizer, std::string_view text, int64_t context,
                            std::optional<int64_t> limit);

// Gets a row of logits [vocab_size] and the token that follows.
using RowFunction = std::function<void(std::span<const float> logits, int32_t next)>;

// Runs what `sequence` does not hold yet of `tokens`, but for the last one, and calls `row` for the positions from
// `first` on, in order. ResourceExhausted when the cache of `runner` does not hold them.
Status ScoreTokens(engine::ModelRunner& runner, engine::SequenceCache& sequence, std::span<const int32_t> tokens,
                   int64_t first, bool is_long, const RowFunction& row);

// Runs a window and calls `row` for each scored position, in order. ResourceExhausted when the cache of `runner` does
// not hold a window.
Status RunWindow(engine::ModelRunner& runner, const TextWindows& windows, int64_t index, const RowFunction& row);

// Tokens of one pass whose logits take no more than a moderate amount of memory.
int64_t PassTokens(int64_t vocab_size, int64_t context);

}  // namespace adit::eval

#endif  // ADIT_EVAL_TEXT_WINDOWS_H_
