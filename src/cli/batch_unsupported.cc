#include "cli/batch_unsupported.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace adit::cli {
namespace {

struct Field {
  const char* name;
  const char* neutral;  // JSON of the value that asks for nothing; empty: every value asks for something
};

constexpr Field kFields[] = {
    // Sampling.
    {"typical_p", "1"},
    {"top_n_sigma", "-1"},
    {"xtc_probability", "0"},
    {"xtc_threshold", "0.1"},
    {"dry_multiplier", "0"},
    {"dry_base", "1.75"},
    {"dry_allowed_length", "2"},
    {"dry_penalty_last_n", "-1"},
    {"dry_sequence_breakers", R"(["\n",":","\"","*"])"},
    {"mirostat", "0"},
    {"mirostat_tau", "5"},
    {"mirostat_eta", "0.1"},
    {"dynatemp_range", "0"},
    {"dynatemp_exponent", "1"},
    {"adaptive_target", "-1"},
    {"adaptive_decay", "0.9"},
    {"no_repeat_ngram_size", "0"},
    {"bad_words", "[]"},
    {"allowed_token_ids", ""},
    {"samplers", ""},
    // What comes back, and how.
    {"stream", "false"},
    {"stream_options", ""},
    {"stream_interval", "1"},
    {"sse_ping_interval", "15"},
    {"include_stop_str_in_output", "false"},
    {"prompt_logprobs", ""},
    {"logprob_token_ids", ""},
    {"skip_special_tokens", "true"},
    {"spaces_between_special_tokens", "true"},
    {"return_token_ids", "false"},
    {"return_prompt_text", "false"},
    {"return_tokens_as_token_ids", "false"},
    {"timings", "false"},
    {"return_progress", "false"},
    {"explain", "false"},
    {"modalities", R"(["text"])"},
    // Constraints.
    {"response_format", R"({"type":"text"})"},
    {"structured_outputs", ""},
    {"guided_json", ""},
    {"guided_regex", ""},
    {"guided_choice", ""},
    {"guided_grammar", ""},
    {"guided_whitespace_pattern", ""},
    {"grammar", ""},
    {"json_schema", ""},
    // Tools and thoughts.
    {"tools", "[]"},
    {"tool_choice", "\"none\""},
    {"parallel_tool_calls", "true"},
    {"functions", "[]"},
    {"function_call", "\"none\""},
    {"reasoning_effort", ""},
    {"thinking_token_budget", ""},
    {"include_reasoning", "true"},
    {"reasoning_format", "\"auto\""},
    // The prompt.
    {"chat_template", ""},
    {"chat_template_kwargs", "{}"},
    {"add_generation_prompt", "true"},
    {"continue_final_message", "false"},
    {"documents", ""},
    {"truncate_prompt_tokens", ""},
    {"truncation_side", "\"left\""},
    {"suffix", "\"\""},
    {"prompt_embeds", ""},
    // The engine.
    {"deadline_ms", ""},
    {"ttft_slo_ms", ""},
    {"tpot_slo_ms", ""},
    {"session_id", ""},
    {"cache_control", ""},
    {"adapter", ""},
    {"lora", ""},
    {"speculative", ""},
};

}  // namespace

void RefuseUnsupported(FieldReader& reader) {
  for (const Field& field : kFields) {
    const nlohmann::json* value = reader.Find(field.name);
    if (value == nullptr) continue;
    const bool has_neutral = field.neutral[0] != '\0';
    if (has_neutral && *value == nlohmann::json::parse(field.neutral)) continue;
    reader.Fail("unsupported_parameter", field.name,
                has_neutral ? fmt::format("'{}' is not supported yet; only {} is taken", field.name, field.neutral)
                            : fmt::format("'{}' is not supported yet", field.name));
  }
}

}  // namespace adit::cli
