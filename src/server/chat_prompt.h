#ifndef ADIT_SERVER_CHAT_PROMPT_H_
#define ADIT_SERVER_CHAT_PROMPT_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "chat/template.h"
#include "tokenizer/tokenizer.h"

namespace adit::server {

// A call of a tool that an assistant's message tells of.
struct ToolCall {
  std::string id;
  std::string name;
  std::string arguments;  // JSON text
};

struct ChatMessage {
  std::string role;  // "system", "user", "assistant" or "tool"
  std::string content;
  std::string name;          // of who speaks, for templates that tell; empty: absent
  std::string tool_call_id;  // that a tool answers; empty: absent
  std::string reasoning;     // of an assistant, before its answer; empty: absent
  std::vector<ToolCall> tool_calls;
};

// What a template sees beside the messages.
struct ChatPromptOptions {
  std::string tools;      // JSON list; empty: none
  std::string documents;  // JSON list; empty: none
  std::string variables;  // JSON object of further variables. Its texts are trusted; empty: none
  bool add_generation_prompt = true;
  bool continue_final_message = false;  // the prompt ends where the last message's content does
};

// Ids of a text to go on from: with what the model expects in front. A BOS that the text itself begins with is not
// doubled, and no EOS is put behind.
std::vector<int32_t> EncodeToContinue(const tokenizer::Tokenizer& tokenizer,
                                      std::span<const tokenizer::TextSegment> segments);

// Turns messages into prompts by a model's chat template.
class ChatPrompt {
 public:
  // `tokenizer` outlives the object. InvalidArgument or ResourceExhausted with line and cause for a template that
  // cannot be read.
  static Result<ChatPrompt> Create(std::string_view template_source, const tokenizer::Tokenizer& tokenizer);

  // The text of `messages`, followed by what opens the model's answer. Bytes of messages that are not UTF-8 become
  // U+FFFD. InvalidArgument when the template fails.
  Result<std::vector<chat::PromptSegment>> Render(std::span<const ChatMessage> messages,
                                                  const ChatPromptOptions& options = {}) const;
  // Its ids. Control tokens come from the template's own text alone: in messages they stay text.
  Result<std::vector<int32_t>> Encode(std::span<const ChatMessage> messages,
                                      const ChatPromptOptions& options = {}) const;
  std::vector<int32_t> Encode(std::span<const chat::PromptSegment> rendered) const;

  // The template's text, to tell models apart by.
  const std::string& source() const { return source_; }

 private:
  ChatPrompt(chat::Template chat_template, std::string_view source, const tokenizer::Tokenizer& tokenizer);

  chat::Template template_;
  std::string source_;
  const tokenizer::Tokenizer& tokenizer_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_CHAT_PROMPT_H_
