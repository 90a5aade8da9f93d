#include "server/unsupported_fields.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace adit::server {
namespace {

struct Field {
  const char* name;
  const char* neutral;  // JSON of the value that asks for nothing; empty: every value asks for something
};

constexpr Field kFields[] = {
    // Sampling.
    {"adaptive_target", "-1"},
    {"adaptive_decay", "0.9"},
    // What comes back, and how.
    {"logprob_token_ids", ""},
    {"spaces_between_special_tokens", "true"},
    {"return_prompt_text", "false"},
    {"return_progress", "false"},
    {"explain", "false"},
    {"modalities", R"(["text"])"},
    // The prompt.
    {"chat_template", ""},
    {"prompt_embeds", ""},
    // The engine.
    {"session_id", ""},
    {"cache_control", ""},
    {"adapter", ""},
    {"lora", ""},
    {"speculative", R"({"enabled":"auto"})"},
};

// Of chats alone.
constexpr Field kChatFields[] = {
    {"messages", ""},
    {"tools", "[]"},
    {"tool_choice", "\"none\""},
    {"functions", "[]"},
    {"function_call", "\"none\""},
    {"top_logprobs", "0"},
    {"reasoning_effort", "\"none\""},
    {"thinking_token_budget", ""},
    {"chat_template_kwargs", "{}"},
    {"documents", ""},
    {"continue_final_message", "false"},
};

void Refuse(FieldReader& reader, const Field& field, const char* where) {
  const nlohmann::json* value = reader.Find(field.name);
  if (value == nullptr) return;
  const bool has_neutral = field.neutral[0] != '\0';
  if (has_neutral && *value == nlohmann::json::parse(field.neutral)) return;
  reader.Fail("unsupported_parameter", field.name,
              has_neutral ? fmt::format("'{}' is not supported{}; only {} is taken", field.name, where, field.neutral)
                          : fmt::format("'{}' is not supported{}", field.name, where));
}

}  // namespace

void RefuseUnsupported(FieldReader& reader, ApiKind kind) {
  for (const Field& field : kFields) Refuse(reader, field, " yet");
  if (kind == ApiKind::kChat) {
    Refuse(reader, {"prompt", ""}, " in chats");
    return Refuse(reader, {"suffix", "\"\""}, " in chats");
  }
  for (const Field& field : kChatFields) Refuse(reader, field, " in completions");
}

}  // namespace adit::server
