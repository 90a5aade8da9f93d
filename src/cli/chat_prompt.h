#ifndef ADIT_CLI_CHAT_PROMPT_H_
#define ADIT_CLI_CHAT_PROMPT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "chat/template.h"
#include "tokenizer/tokenizer.h"

namespace adit::cli {

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" or "tool"
  std::string content;
  std::string name;          // of who speaks, for templates that tell; empty: absent
  std::string tool_call_id;  // that a tool answers; empty: absent
};

// Ids of a text to go on from: with what the model expects in front. A BOS that the text itself begins with is not
// doubled, and no EOS is put behind.
std::vector<int32_t> EncodeToContinue(const tokenizer::Tokenizer& tokenizer,
                                      std::span<const tokenizer::TextSegment> segments);

// Turns messages into prompts by a model's chat template.
class ChatPrompt {
 public:
  // `tokenizer` outlives the object. Errors are runtime errors (exit_code.h), with line and cause.
  static Result<ChatPrompt> Create(std::string_view template_source, const tokenizer::Tokenizer& tokenizer);

  // Ids of `messages` followed by what opens the model's answer. Control tokens come from the template's own text
  // alone: in messages they stay text. Bytes of messages that are not UTF-8 become U+FFFD. Runtime errors when the
  // template fails.
  Result<std::vector<int32_t>> Encode(std::span<const ChatMessage> messages) const;

 private:
  ChatPrompt(chat::Template chat_template, const tokenizer::Tokenizer& tokenizer);

  chat::Template template_;
  const tokenizer::Tokenizer& tokenizer_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_CHAT_PROMPT_H_
