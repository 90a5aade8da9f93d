#include "cli/conversation.h"

#include <span>
#include <utility>

#include "base/error.h"

namespace adit::cli {

Conversation::Conversation(const tokenizer::Tokenizer& tokenizer, std::optional<ChatPrompt> chat,
                           const ConversationOptions& options)
    : tokenizer_(tokenizer), chat_(std::move(chat)), system_(options.system), raw_(options.raw) {
  Clear();
}

Result<Conversation> Conversation::Create(const tokenizer::Tokenizer& tokenizer, const ConversationOptions& options) {
  if (!options.raw && !options.chat_template.empty()) {
    ADIT_ASSIGN_OR_RETURN(ChatPrompt chat, ChatPrompt::Create(options.chat_template, tokenizer));
    return Conversation(tokenizer, std::move(chat), options);
  }
  if (options.system) {
    return InvalidArgument("--system needs a chat template, {}; write the instructions into the prompt",
                           options.raw ? "which --raw leaves out" : "which this model does not have");
  }
  return Conversation(tokenizer, std::nullopt, options);
}

Result<std::vector<int32_t>> Conversation::Prompt(std::string_view text) const {
  if (chat_) {
    std::vector<ChatMessage> messages = messages_;
    messages.push_back({.role = "user", .content = std::string(text)});
    return chat_->Encode(messages);
  }
  const std::string whole = text_ + std::string(text);
  const tokenizer::TextSegment segment{whole, /*trusted=*/raw_};
  return EncodeToContinue(tokenizer_, std::span(&segment, 1));
}

void Conversation::Add(std::string_view text, std::string_view answer) {
  if (chat_) {
    messages_.push_back({.role = "user", .content = std::string(text)});
    messages_.push_back({.role = "assistant", .content = std::string(answer)});
  } else {
    text_.append(text).append(answer);
  }
}

void Conversation::Clear() {
  messages_.clear();
  if (system_) messages_.push_back({.role = "system", .content = *system_});
  text_.clear();
}

}  // namespace adit::cli
