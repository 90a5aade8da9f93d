#include "server/answer_judge.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tokenizer/detokenizer.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

// The text of a message's content: one, or that of its parts.
std::string ContentText(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (!part.is_object() || !part.contains("text") || !part["text"].is_string()) continue;
    if (!text.empty()) text += '\n';
    text += part["text"].get<std::string>();
  }
  return text;
}

// A prompt as text: one, ids, or several of them.
std::string PromptText(const Json& prompt, const tokenizer::Tokenizer& tokenizer) {
  if (prompt.is_string()) return prompt.get<std::string>();
  std::string text;
  if (!prompt.is_array()) return text;
  tokenizer::IncrementalDetokenizer ids(tokenizer, /*with_special=*/true);
  for (const Json& entry : prompt) {
    if (entry.is_number_integer()) {
      const auto id = entry.get<int64_t>();
      if (id >= 0 && id < tokenizer.vocab_size()) text += ids.Append(static_cast<int32_t>(id));
    } else {
      text += PromptText(entry, tokenizer) + '\n';
    }
  }
  return text + ids.Finish();
}

}  // namespace

std::vector<ChatMessage> ConversationOf(const Json& body, ApiKind kind, const tokenizer::Tokenizer& tokenizer) {
  std::vector<ChatMessage> messages;
  if (kind == ApiKind::kCompletion) {
    messages.push_back({.role = "user", .content = PromptText(body.value("prompt", Json()), tokenizer)});
    return messages;
  }
  const Json list = body.value("messages", Json());
  if (!list.is_array()) return messages;
  for (const Json& message : list) {
    if (!message.is_object() || !message.contains("role") || !message["role"].is_string()) continue;
    messages.push_back(
        {.role = message["role"].get<std::string>(), .content = ContentText(message.value("content", Json()))});
  }
  return messages;
}

std::optional<Result<bool>> AnswerJudge::JudgeRequest() {
  if (model_ == nullptr || !model_->options().on_input) return Result<bool>(true);
  const bool says_nothing = std::all_of(conversation_.begin(), conversation_.end(),
                                        [](const ChatMessage& message) { return message.content.empty(); });
  if (says_nothing) return Result<bool>(true);
  if (request_passes_) return request_passes_;
  if (of_request_ == nullptr) {
    Result<std::unique_ptr<Judging>> begun = model_->Begin(conversation_, on_ready_);
    if (!begun.ok()) {
      request_passes_ = Result<bool>(begun.status());
      return request_passes_;
    }
    of_request_ = std::move(begun).value();
  }
  const std::optional<Result<Judgement>> judged = of_request_->Poll();
  if (!judged) return std::nullopt;
  request_passes_ = judged->ok() ? Result<bool>(!(*judged)->unsafe) : Result<bool>(judged->status());
  of_request_.reset();
  return request_passes_;
}

const std::vector<bool>* AnswerJudge::JudgeAnswers(const std::vector<std::string>& texts) {
  if (!std::exchange(answers_begun_, true)) {
    for (const std::string& text : texts) {
      answers_pass_.push_back(text.empty());
      of_answers_.push_back(nullptr);
      if (text.empty()) continue;
      std::vector<ChatMessage> messages = conversation_;
      messages.push_back({.role = "assistant", .content = text});
      Result<std::unique_ptr<Judging>> begun = model_->Begin(messages, on_ready_);
      if (begun.ok()) of_answers_.back() = std::move(begun).value();
    }
  }
  bool all = true;
  for (size_t i = 0; i < of_answers_.size(); ++i) {
    if (of_answers_[i] == nullptr) continue;
    const std::optional<Result<Judgement>> judged = of_answers_[i]->Poll();
    if (!judged) {
      all = false;
      continue;
    }
    answers_pass_[i] = judged->ok() && !(*judged)->unsafe;
    of_answers_[i].reset();
  }
  return all ? &answers_pass_ : nullptr;
}

}  // namespace adit::server
