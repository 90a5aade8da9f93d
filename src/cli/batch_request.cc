#include "cli/batch_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "base/utf8.h"
#include "cli/batch_messages.h"
#include "cli/batch_unsupported.h"
#include "sample/sampling_params.h"

namespace adit::cli {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();
constexpr int64_t kMaxAnswers = 128;
constexpr int64_t kMaxBeams = 16;
constexpr int64_t kMaxTopLogprobs = 20;
constexpr int64_t kDefaultCompletionTokens = 16;
constexpr size_t kMaxStops = 16;
constexpr size_t kMaxStopBytes = 256;

// A seed that is easily typed again.
int64_t DrawSeed() { return static_cast<int64_t>(std::random_device()()); }

// Fields of one meaning, the first that is there.
const char* FirstOf(const FieldReader& reader, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (reader.Find(key) != nullptr) return key;
  }
  return *keys.begin();
}

class RequestReader {
 public:
  RequestReader(const Json& body, ApiKind kind, const ApiModel& model)
      : fields_(body), kind_(kind), model_(model), sampling_(request_.generation.sampling) {}

  std::variant<ApiRequest, ApiError> Read() {
    request_.kind = kind_;
    request_.model = fields_.Text("model", 0, std::numeric_limits<size_t>::max()).value_or(model_.name);
    RefuseUnsupported(fields_);
    RefuseSpecialTokens();
    ReadSampling();
    ReadLogitBias();
    ReadAnswers();
    ReadStops();
    ReadLogprobs();
    request_.generation.priority = static_cast<int32_t>(fields_.Whole("priority", -1000, 1000).value_or(0));
    request_.generation.cache_salt = fields_.Text("cache_salt", 1, 1024).value_or("");
    // A prompt may be long: it is encoded only for a request that is right so far.
    if (!fields_.error()) ReadPrompt();
    if (!fields_.error()) ReadLength();
    if (!fields_.error()) CheckTogether();
    if (fields_.error()) return *fields_.error();
    return std::move(request_);
  }

 private:
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

  void ReadSampling() {
    sampling_.temperature = fields_.Real("temperature", {0, 2}).value_or(1.0);
    sampling_.top_p = fields_.Real("top_p", {0, 1}).value_or(1.0);
    sampling_.top_k = fields_.Whole("top_k", -1, std::numeric_limits<int32_t>::max()).value_or(0);
    // Keeping more tokens than there are keeps them all.
    sampling_.top_k = std::min(sampling_.top_k, model_.vocab_size);
    sampling_.min_p = fields_.Real("min_p", {0, 1}).value_or(0.0);
    const char* repetition = FirstOf(fields_, {"repetition_penalty", "repeat_penalty"});
    sampling_.repetition_penalty = fields_.Real(repetition, {0, 10, /*open_low=*/true}).value_or(1.0);
    sampling_.repeat_last_n = fields_.Whole("repeat_last_n", -1, std::numeric_limits<int32_t>::max()).value_or(-1);
    sampling_.presence_penalty = fields_.Real("presence_penalty", {-2, 2}).value_or(0.0);
    sampling_.frequency_penalty = fields_.Real("frequency_penalty", {-2, 2}).value_or(0.0);
    const std::optional<int64_t> seed = fields_.Whole("seed", std::numeric_limits<int64_t>::min(), kMaxInt64);
    sampling_.seed = !seed || *seed == -1 ? DrawSeed() : *seed;
  }

  void ReadLogitBias() {
    const Json* biases = fields_.Find("logit_bias");
    if (biases == nullptr) return;
    if (!biases->is_object()) return fields_.FailType("logit_bias", *biases, "an object of token ids and biases");
    if (static_cast<int64_t>(biases->size()) > sample::kMaxLogitBiases) {
      return fields_.Fail(
          "invalid_value", "logit_bias",
          fmt::format("'logit_bias' has {} entries; it has at most {}", biases->size(), sample::kMaxLogitBiases));
    }
    for (const auto& [key, value] : biases->items()) {
      const std::optional<int32_t> token = TokenOfKey(key);
      const std::string param = fmt::format("logit_bias.{}", key);
      if (!token) {
        return fields_.Fail("invalid_value", "logit_bias",
                            fmt::format("'logit_bias' has the key {}; it is a token id, 0..{}", Json(key).dump(),
                                        model_.vocab_size - 1));
      }
      const bool ban = value.is_boolean() && !value.get<bool>();
      if (!ban && !value.is_number()) return fields_.FailType(param, value, "a number, or false to ban the token");
      const double bias = ban ? -std::numeric_limits<double>::infinity() : value.get<double>();
      if (!ban && !(bias >= -100.0 && bias <= 100.0)) {
        return fields_.Fail("invalid_value", param, fmt::format("'{}' is {}; it is in [-100, 100]", param, bias));
      }
      sampling_.logit_bias.push_back({.token_id = *token, .bias = bias});
    }
  }

  std::optional<int32_t> TokenOfKey(const std::string& key) const {
    if (key.empty() || key.size() > 10 || key.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    const int64_t token = std::stoll(key);
    if (token >= model_.vocab_size) return std::nullopt;
    return static_cast<int32_t>(token);
  }

  void ReadAnswers() {
    engine::GenerationRequest& generation = request_.generation;
    generation.num_answers = static_cast<int32_t>(fields_.Whole("n", 1, kMaxAnswers).value_or(1));
    const bool beams = fields_.Flag("use_beam_search").value_or(false);
    const int64_t most = beams ? kMaxBeams : kMaxAnswers;
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
      } else if (stop->size() > kMaxStops) {
        fields_.Fail("invalid_value", "stop",
                     fmt::format("'stop' has {} strings; it has at most {}", stop->size(), kMaxStops));
      } else {
        for (size_t i = 0; i < stop->size(); ++i) AddStop((*stop)[i], fmt::format("stop[{}]", i));
      }
    }
    if (const Json* ids = fields_.Find("stop_token_ids"); ids != nullptr) {
      ReadTokens(*ids, "stop_token_ids", request_.generation.stop_token_ids);
    }
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

  void ReadTokens(const Json& list, const char* param, std::vector<int32_t>& out) {
    if (!list.is_array()) return fields_.FailType(param, list, "a list of token ids");
    out.reserve(list.size());
    for (size_t i = 0; i < list.size(); ++i) {
      const std::optional<int64_t> token = WholeNumber(list[i]);
      const std::string element = fmt::format("{}[{}]", param, i);
      if (!token && !list[i].is_number_integer()) return fields_.FailType(element, list[i], "a token id");
      if (!token || *token < 0 || *token >= model_.vocab_size) {
        return fields_.Fail(
            "invalid_value", element,
            fmt::format("'{}' is {}; it is a token id, 0..{}", element, list[i].dump(), model_.vocab_size - 1));
      }
      out.push_back(static_cast<int32_t>(*token));
    }
  }

  void ReadLogprobs() {
    sampling_.top_logprobs = -1;
    std::optional<int64_t> top;
    if (is_chat()) {
      top = fields_.Whole("top_logprobs", 0, kMaxTopLogprobs);
      request_.logprobs = fields_.Flag("logprobs").value_or(false);
      if (top.value_or(0) > 0 && !request_.logprobs) {
        fields_.Fail("invalid_value", "top_logprobs", "'top_logprobs' needs 'logprobs' to be true");
      }
    } else {
      top = fields_.Whole("logprobs", 0, kMaxTopLogprobs);
      request_.logprobs = top.has_value();
    }
    if (request_.logprobs) sampling_.top_logprobs = static_cast<int32_t>(top.value_or(0));
  }

  void ReadPrompt() {
    const std::optional<bool> echo = fields_.Flag("echo");
    if (is_chat()) {
      if (echo.value_or(false)) {
        fields_.Fail("unsupported_parameter", "echo", "'echo' is not supported in chats yet; only false is taken");
      }
      ReadChat();
      return;
    }
    ReadCompletionPrompt(echo.value_or(false));
    if (request_.echo && request_.logprobs) request_.generation.prompt_logprobs = sampling_.top_logprobs;
  }

  void ReadChat() {
    const std::vector<ChatMessage> messages = ReadMessages(fields_);
    if (fields_.error()) return;
    if (!model_.chat.ok()) return FailTemplate(model_.chat.status());
    Result<std::vector<int32_t>> prompt = model_.chat->Encode(messages);
    if (!prompt.ok()) return FailTemplate(prompt.status());
    request_.generation.prompt = std::move(prompt).value();
  }

  void FailTemplate(const Status& status) { fields_.Fail("chat_template_error", "messages", status.message()); }

  void ReadCompletionPrompt(bool echo) {
    const Json* prompt = fields_.Find("prompt");
    if (prompt == nullptr) return fields_.Fail("missing_required_parameter", "prompt", "'prompt' is missing");
    // A list of prompts, of which only lists of one are taken.
    if (prompt->is_array() && !prompt->empty() && (prompt->front().is_string() || prompt->front().is_array())) {
      if (prompt->size() > 1) {
        return fields_.Fail("unsupported_parameter", "prompt",
                            fmt::format("'prompt' has {} prompts; only one is supported yet", prompt->size()));
      }
      prompt = &prompt->front();
    }
    std::vector<int32_t>& ids = request_.generation.prompt;
    if (prompt->is_string()) {
      // Who writes the whole prompt writes its control tokens too.
      const tokenizer::TextSegment segment{prompt->get_ref<const std::string&>(), /*trusted=*/true};
      ids = EncodeToContinue(model_.tokenizer, std::span(&segment, 1));
      if (echo) request_.echo = prompt->get<std::string>();
    } else if (prompt->is_array()) {
      ReadTokens(*prompt, "prompt", ids);
      if (echo && !fields_.error()) {
        const Result<std::string> text = model_.tokenizer.Decode(ids, /*with_special=*/true);
        request_.echo = text.ok() ? ReplaceInvalidUtf8(*text) : std::string();
      }
    } else {
      return fields_.FailType("prompt", *prompt, "a string or a list of token ids");
    }
    if (ids.empty() && !fields_.error()) fields_.Fail("invalid_value", "prompt", "'prompt' is empty");
  }

  void ReadLength() {
    const char* key = FirstOf(fields_, {"max_completion_tokens", "max_tokens", "n_predict", "max_new_tokens"});
    const std::optional<int64_t> wanted = fields_.Whole(key, 0, kMaxInt64);
    const auto num_prompt = static_cast<int64_t>(request_.generation.prompt.size());
    const int64_t room = model_.max_context - num_prompt;
    if (room < 1 || wanted.value_or(0) > room) {
      std::string message =
          fmt::format("This model's maximum context length is {} tokens. However, ", model_.max_context);
      message += wanted ? fmt::format("you requested {} tokens in the {} and {} in the completion.", num_prompt,
                                      prompt_field(), *wanted)
                        : fmt::format("the {} had {} tokens, which leaves no room for an answer.",
                                      is_chat() ? "messages" : "prompt", num_prompt);
      return fields_.Fail("context_length_exceeded", room < 1 ? prompt_field() : key, std::move(message));
    }
    const int64_t otherwise = model_.default_max_tokens.value_or(is_chat() ? room : kDefaultCompletionTokens);
    request_.generation.max_tokens = wanted.value_or(std::min(otherwise, room));
    request_.generation.min_tokens = fields_.Whole("min_tokens", 0, request_.generation.max_tokens).value_or(0);
  }

  // What excludes each other.
  void CheckTogether() {
    const engine::GenerationRequest& generation = request_.generation;
    const bool beam_search = beams_ && generation.beam.width > 0;
    if (!request_.stops.empty() && (beam_search || generation.best_of > generation.num_answers)) {
      return Exclude("stop", beam_search ? "use_beam_search" : "best_of");
    }
    if (!beam_search) return;
    // A search ranks by the model's own probabilities, and does not tell those of single tokens.
    if (request_.logprobs) return Exclude("logprobs", "use_beam_search");
    if (!sampling_.logit_bias.empty()) return Exclude("logit_bias", "use_beam_search");
    if (sampling_.repetition_penalty != 1.0) return Exclude("repetition_penalty", "use_beam_search");
    if (sampling_.presence_penalty != 0.0) return Exclude("presence_penalty", "use_beam_search");
    if (sampling_.frequency_penalty != 0.0) return Exclude("frequency_penalty", "use_beam_search");
  }

  void Exclude(const char* key, const char* other) {
    fields_.Fail("unsupported_parameter", key, fmt::format("'{}' is not supported together with '{}' yet", key, other));
  }

  FieldReader fields_;
  const ApiKind kind_;
  const ApiModel& model_;
  ApiRequest request_;
  sample::SamplingParams& sampling_;  // of request_
  bool beams_ = false;
};

}  // namespace

std::variant<ApiRequest, ApiError> ReadRequest(const Json& body, ApiKind kind, const ApiModel& model) {
  return RequestReader(body, kind, model).Read();
}

}  // namespace adit::cli
