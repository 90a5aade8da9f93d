#include "server/chat_body.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr const char* kShared[] = {
    // Sampling.
    "top_k", "min_p", "typical_p", "top_n_sigma", "xtc_probability", "xtc_threshold", "dry_multiplier", "dry_base",
    "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers", "mirostat", "mirostat_tau", "mirostat_eta",
    "dynatemp_range", "dynatemp_exponent", "repetition_penalty", "repeat_penalty", "repeat_last_n", "presence_penalty",
    "frequency_penalty", "no_repeat_ngram_size", "logit_bias", "bad_words", "allowed_token_ids", "samplers", "seed",
    // The answer's end, and how it is told.
    "stop_token_ids", "ignore_eos", "min_tokens", "stream_interval", "sse_ping_interval", "skip_special_tokens",
    "structured_outputs", "response_format",
    // The template.
    "chat_template_kwargs", "documents", "thinking_token_budget",
    // Scheduling.
    "priority", "deadline_ms", "ttft_slo_ms", "tpot_slo_ms", "cache_salt"};

bool Replace(std::string_view from, std::string_view to, std::string& text) {
  const size_t found = text.find(from);
  if (found == std::string::npos) return false;
  text.replace(found, from.size(), to);
  return true;
}

}  // namespace

void PassField(FieldReader& from, const char* key, Json& to, const char* as) {
  if (const Json* value = from.Find(key); value != nullptr) to[as] = *value;
}

void PassFields(FieldReader& from, Json& to) {
  for (const char* key : kShared) PassField(from, key, to, key);
}

Json TextPart(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

void RenameFields(std::span<const FieldName> names, ApiError& error) {
  for (const FieldName& name : names) {
    if (!error.param.starts_with(name.chat)) continue;
    error.param.replace(0, name.chat.size(), name.own);
    (void)Replace(fmt::format("'{}", name.chat), fmt::format("'{}", name.own), error.message);
    return;
  }
}

}  // namespace adit::server
