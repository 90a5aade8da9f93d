#include "cli/chat_prompt.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/exit_code.h"

namespace adit::cli {
namespace {

std::string TokenText(const tokenizer::Tokenizer& tokenizer, std::optional<int32_t> id) {
  return id ? ReplaceInvalidUtf8(tokenizer.TokenBytes(*id, /*with_special=*/true)) : std::string();
}

// The variables that templates see, as Hugging Face transformers names them.
std::string ContextJson(std::span<const ChatMessage> messages, const tokenizer::Tokenizer& tokenizer) {
  nlohmann::ordered_json context;
  context["messages"] = nlohmann::ordered_json::array();
  for (const ChatMessage& message : messages) {
    nlohmann::ordered_json entry = {{"role", message.role}, {"content", ReplaceInvalidUtf8(message.content)}};
    if (!message.name.empty()) entry["name"] = ReplaceInvalidUtf8(message.name);
    if (!message.tool_call_id.empty()) entry["tool_call_id"] = ReplaceInvalidUtf8(message.tool_call_id);
    context["messages"].push_back(std::move(entry));
  }
  context["tools"] = nullptr;
  context["documents"] = nullptr;
  context["add_generation_prompt"] = true;
  context["bos_token"] = TokenText(tokenizer, tokenizer.bos_id());
  context["eos_token"] = TokenText(tokenizer, tokenizer.eos_id());
  return context.dump();
}

Status InTemplate(const Status& status) {
  return AsRuntimeError(Status(status.code(), "chat template: " + status.message()));
}

}  // namespace

std::vector<int32_t> EncodeToContinue(const tokenizer::Tokenizer& tokenizer,
                                      std::span<const tokenizer::TextSegment> segments) {
  std::vector<int32_t> ids = tokenizer.Encode(segments, /*add_special=*/true);
  if (tokenizer.adds_eos() && !ids.empty() && ids.back() == tokenizer.eos_id()) ids.pop_back();
  if (tokenizer.adds_bos() && ids.size() >= 2 && ids[0] == tokenizer.bos_id() && ids[1] == ids[0])
    ids.erase(ids.begin());
  return ids;
}

ChatPrompt::ChatPrompt(chat::Template chat_template, const tokenizer::Tokenizer& tokenizer)
    : template_(std::move(chat_template)), tokenizer_(tokenizer) {}

Result<ChatPrompt> ChatPrompt::Create(std::string_view template_source, const tokenizer::Tokenizer& tokenizer) {
  Result<chat::Template> parsed = chat::Template::Parse(template_source);
  if (!parsed.ok()) return InTemplate(parsed.status());
  return ChatPrompt(std::move(parsed).value(), tokenizer);
}

Result<std::vector<int32_t>> ChatPrompt::Encode(std::span<const ChatMessage> messages) const {
  const Result<std::vector<chat::PromptSegment>> rendered = template_.Render(ContextJson(messages, tokenizer_), {});
  if (!rendered.ok()) return InTemplate(rendered.status());
  std::vector<tokenizer::TextSegment> segments;
  segments.reserve(rendered->size());
  for (const chat::PromptSegment& segment : *rendered) segments.push_back({segment.text, segment.trusted});
  return EncodeToContinue(tokenizer_, segments);
}

}  // namespace adit::cli
