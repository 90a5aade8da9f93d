#include "cli/conversation.h"

#include <span>
#include <utility>

#include "base/error.h"
#include "cli/exit_code.h"

namespace adit::cli {
namespace {

using server::ChatMessage;
using server::ChatPrompt;

}  // namespace

Conversation::Conversation(const tokenizer::Tokenizer& tokenizer, std::optional<ChatPrompt> chat,
                           const ConversationOptions& options)
    : tokenizer_(tokenizer), chat_(std::move(chat)), system_(options.system), raw_(options.raw) {}

Result<Conversation> Conversation::Create(const tokenizer::Tokenizer& tokenizer, const ConversationOptions& options) {
  if (!options.raw && !options.chat_template.empty()) {
    Result<ChatPrompt> chat = ChatPrompt::Create(options.chat_template, tokenizer);
    if (!chat.ok()) return AsRuntimeError(chat.status());
    return Conversation(tokenizer, std::move(chat).value(), options);
  }
  if (options.system) {
    return InvalidArgument("--system needs a chat template, {}; write the instructions into the prompt",
                           options.raw ? "which --raw leaves out" : "which this model does not have");
  }
  return Conversation(tokenizer, std::nullopt, options);
}

Result<std::vector<int32_t>> Conversation::Prompt(std::string_view text) const {
  if (chat_) {
    std::vector<ChatMessage> messages;
    if (system_) messages.push_back({.role = "system", .content = *system_});
    for (const Turn& turn : turns_) {
      messages.push_back({.role = "user", .content = turn.text});
      messages.push_back({.role = "assistant", .content = turn.answer});
    }
    messages.push_back({.role = "user", .content = std::string(text)});
    Result<std::vector<int32_t>> prompt = chat_->Encode(messages);
    if (!prompt.ok()) return AsRuntimeError(prompt.status());
    return prompt;
  }
  std::string whole;
  for (const Turn& turn : turns_) whole += turn.text + turn.answer;
  whole += text;
  const tokenizer::TextSegment segment{whole, /*trusted=*/raw_};
  return server::EncodeToContinue(tokenizer_, std::span(&segment, 1));
}

void Conversation::Add(std::string_view text, std::string_view answer) {
  turns_.push_back({.text = std::string(text), .answer = std::string(answer)});
}

Turn Conversation::TakeLast() {
  Turn last = std::move(turns_.back());
  turns_.pop_back();
  return last;
}

Status Conversation::SetSystem(std::optional<std::string> system) {
  if (system && !chat_) {
    return InvalidArgument("a system message needs a chat template, {}",
                           raw_ ? "which --raw leaves out" : "which this model does not have");
  }
  system_ = std::move(system);
  return Status();
}

}  // namespace adit::cli
