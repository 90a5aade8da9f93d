#include "server/chat_prompt.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string TokenText(const tokenizer::Tokenizer& tokenizer, std::optional<int32_t> id) {
  return id ? ReplaceInvalidUtf8(tokenizer.TokenBytes(*id, /*with_special=*/true)) : std::string();
}

// Arguments as templates want them: the object, where the text is one; nothing stands for no arguments.
OrderedJson ArgumentsOf(const std::string& text) {
  if (text.empty() || text == "null") return OrderedJson::object();
  OrderedJson parsed = OrderedJson::parse(text, nullptr, /*allow_exceptions=*/false);
  return parsed.is_object() ? parsed : OrderedJson(ReplaceInvalidUtf8(text));
}

OrderedJson EntryOf(const ChatMessage& message) {
  OrderedJson entry = {{"role", message.role}, {"content", ReplaceInvalidUtf8(message.content)}};
  if (!message.name.empty()) entry["name"] = ReplaceInvalidUtf8(message.name);
  if (!message.tool_call_id.empty()) entry["tool_call_id"] = ReplaceInvalidUtf8(message.tool_call_id);
  if (!message.reasoning.empty()) entry["reasoning_content"] = ReplaceInvalidUtf8(message.reasoning);
  if (message.tool_calls.empty()) return entry;
  for (const ToolCall& call : message.tool_calls) {
    entry["tool_calls"].push_back(
        {{"id", ReplaceInvalidUtf8(call.id)},
         {"type", "function"},
         {"function", {{"name", ReplaceInvalidUtf8(call.name)}, {"arguments", ArgumentsOf(call.arguments)}}}});
  }
  return entry;
}

OrderedJson ListOrNull(const std::string& text) { return text.empty() ? OrderedJson() : OrderedJson::parse(text); }

// The variables that templates see, as Hugging Face transformers names them.
std::string ContextJson(std::span<const ChatMessage> messages, const ChatPromptOptions& options,
                        const tokenizer::Tokenizer& tokenizer) {
  OrderedJson context;
  context["messages"] = OrderedJson::array();
  for (const ChatMessage& message : messages) context["messages"].push_back(EntryOf(message));
  context["tools"] = ListOrNull(options.tools);
  context["documents"] = ListOrNull(options.documents);
  context["add_generation_prompt"] = options.add_generation_prompt && !options.continue_final_message;
  context["bos_token"] = TokenText(tokenizer, tokenizer.bos_id());
  context["eos_token"] = TokenText(tokenizer, tokenizer.eos_id());
  if (!options.variables.empty()) {
    const OrderedJson variables = OrderedJson::parse(options.variables);
    for (const auto& [key, value] : variables.items()) {
      if (!context.contains(key)) context[key] = value;
    }
  }
  return context.dump();
}

Status InTemplate(const Status& status) { return Status(status.code(), "chat template: " + status.message()); }

// Cuts what the template puts behind the content of the last message.
Status CutBehind(const std::string& content, std::vector<chat::PromptSegment>& segments) {
  size_t begin = content.find_first_not_of(" \t\n\r");
  const size_t end = content.find_last_not_of(" \t\n\r");
  if (begin == std::string::npos) return InvalidArgument("the last message has no content to go on from");
  const std::string wanted = content.substr(begin, end - begin + 1);
  for (size_t i = segments.size(); i-- > 0;) {
    if (segments[i].trusted) continue;
    const size_t found = segments[i].text.rfind(wanted);
    if (found == std::string::npos) continue;
    segments[i].text.resize(found + wanted.size());
    segments.resize(i + 1);
    // What the message ends with belongs to it, and templates like to trim it.
    segments[i].text += content.substr(end + 1);
    return Status();
  }
  return InvalidArgument("the template does not give the last message's content: it cannot be gone on from");
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

ChatPrompt::ChatPrompt(chat::Template chat_template, std::string_view source, const tokenizer::Tokenizer& tokenizer)
    : template_(std::move(chat_template)), source_(source), tokenizer_(tokenizer) {}

Result<ChatPrompt> ChatPrompt::Create(std::string_view template_source, const tokenizer::Tokenizer& tokenizer) {
  Result<chat::Template> parsed = chat::Template::Parse(template_source);
  if (!parsed.ok()) return InTemplate(parsed.status());
  return ChatPrompt(std::move(parsed).value(), template_source, tokenizer);
}

Result<std::vector<chat::PromptSegment>> ChatPrompt::Render(std::span<const ChatMessage> messages,
                                                            const ChatPromptOptions& options) const {
  Result<std::vector<chat::PromptSegment>> rendered = template_.Render(ContextJson(messages, options, tokenizer_), {});
  if (!rendered.ok()) return InTemplate(rendered.status());
  if (options.continue_final_message && !messages.empty()) {
    const Status status = CutBehind(ReplaceInvalidUtf8(messages.back().content), *rendered);
    if (!status.ok()) return InTemplate(status);
  }
  return rendered;
}

Result<std::vector<int32_t>> ChatPrompt::Encode(std::span<const ChatMessage> messages,
                                                const ChatPromptOptions& options) const {
  ADIT_ASSIGN_OR_RETURN(const std::vector<chat::PromptSegment> rendered, Render(messages, options));
  return Encode(rendered);
}

std::vector<int32_t> ChatPrompt::Encode(std::span<const chat::PromptSegment> rendered) const {
  std::vector<tokenizer::TextSegment> segments;
  segments.reserve(rendered.size());
  for (const chat::PromptSegment& segment : rendered) segments.push_back({segment.text, segment.trusted});
  return EncodeToContinue(tokenizer_, segments);
}

}  // namespace adit::server
