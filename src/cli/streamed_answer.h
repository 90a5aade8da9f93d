#ifndef ADIT_CLI_STREAMED_ANSWER_H_
#define ADIT_CLI_STREAMED_ANSWER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/sse_reader.h"

namespace adit::cli {

// What one answer of an OpenAI server has come to, read from its stream: chunks of chats or of completions.
class StreamedAnswer {
 public:
  // `keeps_text`: the text is wanted, not just its pieces.
  explicit StreamedAnswer(bool keeps_text) : keeps_text_(keeps_text) {}

  // Takes what has come of the body. The number of pieces in it that tell of the answer: text, thoughts or calls.
  size_t Append(std::string_view bytes);

  // Why the stream is of no use: "malformed stream", or the server's own error as "error in stream: CODE". Empty while
  // it is.
  const std::string& error() const { return error_; }
  // The server has said that the answer is whole.
  bool done() const { return done_ || finished_; }
  const std::string& text() const { return text_; }

  // As the server counts; unset where it does not say.
  std::optional<int64_t> prompt_tokens() const { return prompt_tokens_; }
  std::optional<int64_t> cached_tokens() const { return cached_tokens_; }
  std::optional<int64_t> output_tokens() const { return output_tokens_; }

 private:
  void TakeEvent(std::string_view data);

  const bool keeps_text_;
  SseReader events_;
  size_t num_pieces_ = 0;
  std::string text_;
  std::string error_;
  bool done_ = false;      // [DONE]
  bool finished_ = false;  // a finish_reason
  std::optional<int64_t> prompt_tokens_;
  std::optional<int64_t> cached_tokens_;
  std::optional<int64_t> output_tokens_;
};

// How an error response is counted: its status and the code that its body tells, "429 queue_full".
std::string ErrorName(int64_t status, std::string_view body);

}  // namespace adit::cli

#endif  // ADIT_CLI_STREAMED_ANSWER_H_
