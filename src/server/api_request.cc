#include "server/api_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "base/utf8.h"
#include "server/chat_fields.h"
#include "server/json_fields.h"
#include "server/sampling_fields.h"
#include "server/unsupported_fields.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxBeams = 16;
constexpr int64_t kDefaultCompletionTokens = 16;
constexpr size_t kMaxStopBytes = 256;
constexpr int64_t kMaxMilliseconds = 3'600'000;

// Fields of one meaning, the first that is there.
const char* FirstOf(FieldReader& reader, std::initializer_list<const char*> keys) {
  const char* first = nullptr;
  for (const char* key : keys) {
    if (reader.Find(key) != nullptr && first == nullptr) first = key;
  }
  return first != nullptr ? first : *keys.begin();
}

class RequestReader {
 public:
  RequestReader(const Json& body, ApiKind kind, const ApiModel& model, std::string_view text, int64_t tenant_tokens)
      : fields_(body),
        text_(body, text),
        kind_(kind),
        model_(model),
        max_tokens_(tenant_tokens > 0 ? std::min(model.max_context, tenant_tokens) : model.max_context),
        sampling_(request_.generation.sampling) {
    request_.generation.tenant_tokens = tenant_tokens;
  }

  std::variant<ApiRequest, ApiError> Read() {
    request_.kind = kind_;
    request_.model = fields_.Text("model", 0, std::numeric_limits<size_t>::max()).value_or(model_.name);
    request_.fingerprint = model_.fingerprint;
    RefuseUnsupported(fields_, kind_);
    RefuseSpecialTokens();
    // A search ranks by the model's own probabilities, whatever is usual for sampling.
    if (!fields_.Flag("use_beam_search").value_or(false)) sampling_ = model_.sampling;
    ReadSampling(fields_, model_, sampling_);
    ReadAnswers();
    ReadStops();
    ReadLogprobs();
    ReadStream();
    ReadScheduling();
    request_.constraint = ReadConstraint(fields_, text_);
    request_.timings = fields_.Flag("timings").value_or(false);
    request_.token_ids = fields_.Flag("return_token_ids").value_or(false);
    request_.tokens_as_ids = fields_.Flag("return_tokens_as_token_ids").value_or(false);
    request_.with_special = !fields_.Flag("skip_special_tokens").value_or(true);
    // A prompt may be long: it is encoded only for a request that is right so far.
    if (!fields_.error()) ReadPrompt();
    if (!fields_.error()) ReadLength();
    if (!fields_.error()) CheckTogether();
    if (fields_.error()) return Refusal(*fields_.error());
    request_.ignored = fields_.Unknown();
    return std::move(request_);
  }

 private:
  // What this build lacks is not the request's fault.
  static ApiError Refusal(ApiError error) {
    if (error.code == "not_supported") {
      error.status = 501;
      error.type = "not_supported_error";
    }
    return error;
  }

  bool is_chat() const { return kind_ == ApiKind::kChat; }
  const char* prompt_field() const { return is_chat() ? "messages" : "prompt"; }

  // A chat's template writes them; elsewhere the tokenizer adds them.
  void RefuseSpecialTokens() {
    const std::optional<bool> add = fields_.Flag("add_special_tokens");
    if (add && *add == is_chat()) {
      fields_.Fail("unsupported_parameter", "add_special_tokens",
                   fmt::format("'add_special_tokens' is not supported yet; only {} is taken", !is_chat()));
    }
  }

  void ReadAnswers() {
    engine::GenerationRequest& generation = request_.generation;
    const int64_t max_answers = model_.limits.max_answers;
    generation.num_answers = static_cast<int32_t>(fields_.Whole("n", 1, max_answers).value_or(1));
    const bool beams = fields_.Flag("use_beam_search").value_or(false);
    const int64_t most = beams ? kMaxBeams : max_answers;
    const auto best_of =
        static_cast<int32_t>(fields_.Whole("best_of", generation.num_answers, most).value_or(generation.num_answers));
    const std::optional<double> length_penalty = fields_.Real("length_penalty", {-10, 10});
    ReadEarlyStopping(generation.beam.early_stopping);
    if (!beams) {
      if (length_penalty.value_or(1.0) != 1.0) FailWithoutBeams("length_penalty");
      if (generation.beam.early_stopping != engine::EarlyStopping::kHeuristic) FailWithoutBeams("early_stopping");
      if (best_of > generation.num_answers) generation.best_of = best_of;
      return;
    }
    if (best_of > kMaxBeams) {
      fields_.Fail("invalid_value", "n",
                   fmt::format("'n' is {}; a beam search has at most {} beams", best_of, kMaxBeams));
    }
    generation.beam.length_penalty = length_penalty.value_or(1.0);
    if (best_of == 1) {
      // One beam takes the likeliest token each time.
      sampling_.temperature = 0.0;
    } else {
      generation.beam.width = best_of;
    }
    beams_ = true;
  }

  void ReadEarlyStopping(engine::EarlyStopping& out) {
    const Json* value = fields_.Find("early_stopping");
    if (value == nullptr) return;
    if (value->is_boolean()) {
      out = value->get<bool>() ? engine::EarlyStopping::kWhenDone : engine::EarlyStopping::kHeuristic;
    } else if (value->is_string() && value->get_ref<const std::string&>() == "never") {
      out = engine::EarlyStopping::kNever;
    } else {
      fields_.FailType("early_stopping", *value, "true, false or \"never\"");
    }
  }

  void FailWithoutBeams(const char* key) {
    fields_.Fail("invalid_value", key, fmt::format("'{}' belongs to a beam search; set 'use_beam_search'", key));
  }

  void ReadStops() {
    if (const Json* stop = fields_.Find("stop"); stop != nullptr) {
      if (stop->is_string()) {
        AddStop(*stop, "stop");
      } else if (!stop->is_array()) {
        fields_.FailType("stop", *stop, "a string or a list of strings");
      } else if (stop->size() > model_.limits.max_stops) {
        fields_.Fail("invalid_value", "stop",
                     fmt::format("'stop' has {} strings; it has at most {}", stop->size(), model_.limits.max_stops));
      } else {
        for (size_t i = 0; i < stop->size(); ++i) AddStop((*stop)[i], fmt::format("stop[{}]", i));
      }
    }
    if (const Json* ids = fields_.Find("stop_token_ids"); ids != nullptr) {
      ReadTokenIds(fields_, *ids, "stop_token_ids", model_.vocab_size, request_.generation.stop_token_ids);
    }
    request_.include_stop = fields_.Flag("include_stop_str_in_output").value_or(false);
    request_.generation.ignore_eos = fields_.Flag("ignore_eos").value_or(false);
  }

  void AddStop(const Json& value, const std::string& param) {
    if (!value.is_string()) return fields_.FailType(param, value, "a string");
    const auto& text = value.get_ref<const std::string&>();
    if (text.empty() || text.size() > kMaxStopBytes) {
      return fields_.Fail(text.empty() ? "invalid_value" : "string_above_max_length", param,
                          fmt::format("'{}' has {} bytes; it has 1 to {}", param, text.size(), kMaxStopBytes));
    }
    request_.stops.push_back(text);
  }

  void ReadLogprobs() {
    sampling_.top_logprobs = -1;
    const int64_t most = model_.limits.max_top_logprobs;
    std::optional<int64_t> top;
    if (is_chat()) {
      top = fields_.Whole("top_logprobs", 0, most);
      request_.logprobs = fields_.Flag("logprobs").value_or(false);
      if (top.value_or(0) > 0 && !request_.logprobs) {
        fields_.Fail("invalid_value", "top_logprobs", "'top_logprobs' needs 'logprobs' to be true");
      }
    } else {
      top = fields_.Whole("logprobs", 0, most);
      request_.logprobs = top.has_value();
    }
    if (request_.logprobs) sampling_.top_logprobs = static_cast<int32_t>(top.value_or(0));
    if (const std::optional<int64_t> prompt = fields_.Whole("prompt_logprobs", 0, most); prompt) {
      request_.prompt_logprobs = true;
      request_.generation.prompt_logprobs = static_cast<int32_t>(*prompt);
    }
  }

  void ReadStream() {
    StreamWish& stream = request_.stream;
    stream.on = fields_.Flag("stream").value_or(false);
    if (stream.on && !model_.streams) {
      fields_.Fail("unsupported_parameter", "stream", "'stream' is not supported here; only false is taken");
    }
    stream.interval = fields_.Whole("stream_interval", 1, 1'000'000).value_or(1);
    stream.ping_s = static_cast<double>(fields_.Whole("sse_ping_interval", 1, 3600).value_or(15));
    const Json* options = fields_.Find("stream_options");
    if (options == nullptr) return;
    if (!options->is_object()) return fields_.FailType("stream_options", *options, "an object");
    if (!stream.on) {
      return fields_.Fail("invalid_value", "stream_options", "'stream_options' needs 'stream' to be true");
    }
    FieldReader reader(*options);
    stream.usage = reader.Flag("include_usage").value_or(false);
    stream.continuous_usage = reader.Flag("continuous_usage_stats").value_or(false);
    (void)reader.Flag("include_obfuscation");  // that there is none is not noticed
    if (reader.error()) {
      fields_.Fail(reader.error()->code, "stream_options." + reader.error()->param, reader.error()->message);
    }
  }

  void ReadScheduling() {
    engine::GenerationRequest& generation = request_.generation;
    ReadTier();
    const int64_t usual = request_.is_flex ? kIdlePriority : 0;
    generation.priority = static_cast<int32_t>(fields_.Whole("priority", -1000, 1000).value_or(usual));
    generation.cache_salt = fields_.Text("cache_salt", 1, 1024).value_or("");
    const auto seconds = [this](const char* key, double otherwise) {
      const std::optional<int64_t> ms = fields_.Whole(key, 1, kMaxMilliseconds);
      return ms ? static_cast<double>(*ms) * 1e-3 : otherwise;
    };
    generation.timeout_s = seconds("deadline_ms", generation.timeout_s);
    generation.ttft_objective_s = seconds("ttft_slo_ms", generation.ttft_objective_s);
    generation.tpot_objective_s = seconds("tpot_slo_ms", generation.tpot_objective_s);
  }

  // OpenAI's classes of service; all but "flex", that of batches, are the usual one here.
  void ReadTier() {
    const std::string tier = fields_.Text("service_tier", 1, 64).value_or("auto");
    request_.is_flex = tier == "flex";
    for (const char* known : {"auto", "default", "flex", "scale", "priority"}) {
      if (tier == known) return;
    }
    fields_.Fail("invalid_value", "service_tier",
                 fmt::format("'service_tier' is \"{}\"; it is auto, default, flex, scale or priority", tier));
  }

  void ReadPrompt() {
    const std::optional<bool> echo = fields_.Flag("echo");
    if (is_chat()) {
      if (echo.value_or(false)) {
        fields_.Fail("unsupported_parameter", "echo", "'echo' is not supported in chats yet; only false is taken");
      }
      ReadChat(fields_, text_, model_, request_);
    } else {
      ReadCompletionPrompts(echo.value_or(false));
    }
    if (!request_.echo.empty() && request_.logprobs) {
      request_.generation.prompt_logprobs = std::max(request_.generation.prompt_logprobs, sampling_.top_logprobs);
    }
    Truncate();
  }

  void ReadCompletionPrompts(bool echo) {
    const Json* prompt = fields_.Find("prompt");
    ReadSuffix(echo);
    if (prompt == nullptr) return fields_.Fail("missing_required_parameter", "prompt", "'prompt' is missing");
    const bool is_list =
        prompt->is_array() && !prompt->empty() && (prompt->front().is_string() || prompt->front().is_array());
    if (!is_list) return ReadCompletionPrompt(*prompt, "prompt", echo, request_.generation.prompt);
    const auto most = static_cast<size_t>(model_.limits.max_prompts);
    if (prompt->size() > most) {
      return fields_.Fail("invalid_value", "prompt",
                          fmt::format("'prompt' has {} prompts; it has at most {}", prompt->size(), most));
    }
    for (size_t i = 0; i < prompt->size() && !fields_.error(); ++i) {
      std::vector<int32_t> ids;
      ReadCompletionPrompt((*prompt)[i], fmt::format("prompt[{}]", i), echo, ids);
      if (i == 0) {
        request_.generation.prompt = std::move(ids);
      } else {
        request_.more_prompts.push_back(std::move(ids));
      }
    }
  }

  // Text behind a gap that the answer is to fill.
  void ReadSuffix(bool echo) {
    suffix_ = fields_.Text("suffix", 0, std::numeric_limits<size_t>::max()).value_or("");
    if (suffix_.empty()) return;
    if (!model_.fim) {
      suffix_.clear();
      return fields_.Fail("unsupported_parameter", "suffix",
                          "'suffix' is not supported by this model: its vocabulary has no tokens to fill gaps by");
    }
    if (echo) return fields_.Fail("unsupported_parameter", "echo", "'echo' is not supported together with 'suffix'");
    std::vector<int32_t>& stops = request_.generation.stop_token_ids;
    stops.insert(stops.end(), model_.fim->stop_ids.begin(), model_.fim->stop_ids.end());
  }

  void ReadCompletionPrompt(const Json& prompt, const std::string& param, bool echo, std::vector<int32_t>& ids) {
    if (!suffix_.empty() && !prompt.is_string()) {
      return fields_.FailType(param, prompt, "a string, as there is a 'suffix'");
    }
    if (!suffix_.empty()) {
      const SecondsAdder adder(request_.tokenize_seconds);
      ids = EncodeGap(model_.tokenizer, *model_.fim, {.before = prompt.get<std::string>(), .behind = suffix_});
    } else if (prompt.is_string()) {
      // Who writes the whole prompt writes its control tokens too.
      const tokenizer::TextSegment segment{prompt.get_ref<const std::string&>(), /*trusted=*/true};
      const SecondsAdder adder(request_.tokenize_seconds);
      ids = EncodeToContinue(model_.tokenizer, std::span(&segment, 1));
      if (echo) request_.echo.push_back(prompt.get<std::string>());
    } else if (prompt.is_array()) {
      ReadTokenIds(fields_, prompt, param, model_.vocab_size, ids);
      if (echo && !fields_.error()) {
        const Result<std::string> text = model_.tokenizer.Decode(ids, /*with_special=*/true);
        request_.echo.push_back(text.ok() ? ReplaceInvalidUtf8(*text) : std::string());
      }
    } else {
      return fields_.FailType(param, prompt, "a string or a list of token ids");
    }
    if (ids.empty() && !fields_.error()) fields_.Fail("invalid_value", param, fmt::format("'{}' is empty", param));
  }

  void Truncate() {
    const std::optional<int64_t> most = fields_.Whole("truncate_prompt_tokens", -1, kMaxInt64);
    const std::string side = fields_.Text("truncation_side", 1, 16).value_or("left");
    if (side != "left" && side != "right") {
      fields_.Fail("invalid_value", "truncation_side", "'truncation_side' is neither left nor right");
    }
    if (!most || fields_.error()) return;
    if (*most == 0)
      return fields_.Fail("invalid_value", "truncate_prompt_tokens",
                          "'truncate_prompt_tokens' is 0: no tokens of the prompt are left");
    // One place is the answer's.
    const int64_t wanted = *most == -1 ? std::max<int64_t>(1, max_tokens_ - 1) : *most;
    const auto cut = [&](std::vector<int32_t>& ids) {
      const auto keep = static_cast<size_t>(std::min(wanted, static_cast<int64_t>(ids.size())));
      if (side == "right") return ids.resize(keep);
      ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(keep));
    };
    cut(request_.generation.prompt);
    for (std::vector<int32_t>& ids : request_.more_prompts) cut(ids);
  }

  void ReadLength() {
    const char* key = FirstOf(fields_, {"max_completion_tokens", "max_tokens", "n_predict", "max_new_tokens"});
    const Json* value = fields_.Find(key);
    // llama.cpp and others say -1 for no bound.
    const bool unbounded = value != nullptr && WholeNumber(*value) == -1;
    std::optional<int64_t> wanted = unbounded ? std::nullopt : fields_.Whole(key, 0, kMaxInt64);
    size_t longest = request_.generation.prompt.size();
    for (const std::vector<int32_t>& ids : request_.more_prompts) longest = std::max(longest, ids.size());
    const int64_t room = max_tokens_ - static_cast<int64_t>(longest);
    if (room < 1 || wanted.value_or(0) > room) return FailLength(key, wanted, static_cast<int64_t>(longest), room);
    const int64_t most = model_.limits.max_output_tokens;
    if (most >= 0 && wanted.value_or(0) > most) {
      return fields_.Fail("invalid_value", key, fmt::format("'{}' is {}; it is in 0..{} here", key, *wanted, most));
    }
    int64_t otherwise = room;
    if (!unbounded) otherwise = model_.default_max_tokens.value_or(is_chat() ? room : kDefaultCompletionTokens);
    if (most >= 0) otherwise = std::min(otherwise, most);
    request_.generation.max_tokens = wanted.value_or(std::min(otherwise, room));
    request_.generation.min_tokens = fields_.Whole("min_tokens", 0, request_.generation.max_tokens).value_or(0);
  }

  void FailLength(const char* key, std::optional<int64_t> wanted, int64_t num_prompt, int64_t room) {
    std::string message =
        max_tokens_ < model_.max_context
            ? fmt::format("Requests of this key may hold {} tokens of the cache. However, ", max_tokens_)
            : fmt::format("This model's maximum context length is {} tokens. However, ", max_tokens_);
    message +=
        wanted
            ? fmt::format("you requested {} tokens ({} in the {}, {} in the completion).",
                          num_prompt + std::min(*wanted, kMaxInt64 - num_prompt), num_prompt, prompt_field(), *wanted)
            : fmt::format("the {} had {} tokens, which leaves no room for an answer.", prompt_field(), num_prompt);
    fields_.Fail("context_length_exceeded", room < 1 ? prompt_field() : key, std::move(message));
  }

  // What excludes each other.
  void CheckTogether() {
    const engine::GenerationRequest& generation = request_.generation;
    const bool beam_search = beams_ && generation.beam.width > 0;
    const bool chooses = beam_search || generation.best_of > generation.num_answers;
    if (!request_.stops.empty() && chooses) return Exclude("stop", beam_search ? "use_beam_search" : "best_of");
    if (request_.stream.on && chooses) return Exclude("stream", beam_search ? "use_beam_search" : "best_of");
    if (!beam_search) return;
    // A search ranks by the model's own probabilities, and does not tell those of single tokens.
    if (request_.logprobs) return Exclude("logprobs", "use_beam_search");
    if (request_.constraint) return Exclude(request_.constraint->param.c_str(), "use_beam_search");
    if (!sampling_.logit_bias.empty()) return Exclude("logit_bias", "use_beam_search");
    if (sampling_.repetition_penalty != 1.0) return Exclude("repetition_penalty", "use_beam_search");
    if (sampling_.presence_penalty != 0.0) return Exclude("presence_penalty", "use_beam_search");
    if (sampling_.frequency_penalty != 0.0) return Exclude("frequency_penalty", "use_beam_search");
    if (sampling_.dry_multiplier != 0.0) return Exclude("dry_multiplier", "use_beam_search");
    if (sampling_.no_repeat_ngram_size != 0) return Exclude("no_repeat_ngram_size", "use_beam_search");
    if (!sampling_.bad_words.empty()) return Exclude("bad_words", "use_beam_search");
    if (!sampling_.allowed_token_ids.empty()) return Exclude("allowed_token_ids", "use_beam_search");
  }

  void Exclude(const char* key, const char* other) {
    fields_.Fail("unsupported_parameter", key, fmt::format("'{}' is not supported together with '{}' yet", key, other));
  }

  FieldReader fields_;
  const OrderedBody text_;
  const ApiKind kind_;
  const ApiModel& model_;
  const int64_t max_tokens_;  // of a sequence, for this request
  ApiRequest request_;
  SamplingParams& sampling_;  // of request_
  bool beams_ = false;
  std::string suffix_;  // empty: no gap
};

}  // namespace

std::variant<ApiRequest, ApiError> ReadRequest(const Json& body, ApiKind kind, const ApiModel& model,
                                               std::string_view text, int64_t tenant_tokens) {
  return RequestReader(body, kind, model, text, tenant_tokens).Read();
}

}  // namespace adit::server
