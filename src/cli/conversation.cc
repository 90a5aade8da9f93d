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
    : tokenizer_(tokenizer), chat_(std::move(chat)), system_(options.system), raw_(options.raw) {
  Clear();
}

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
    std::vector<ChatMessage> messages = messages_;
    messages.push_back({.role = "user", .content = std::string(text)});
    Result<std::vector<int32_t>> prompt = chat_->Encode(messages);
    if (!prompt.ok()) return AsRuntimeError(prompt.status());
    return prompt;
  }
  const std::string whole = text_ + std::string(text);
  const tokenizer::TextSegment segment{whole, /*trusted=*/raw_};
  return server::EncodeToContinue(tokenizer_, std::span(&segment, 1));
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
