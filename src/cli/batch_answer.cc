#include "cli/batch_answer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>
#include <utility>

#include "base/utf8.h"

namespace adit::cli {
namespace {

using Json = nlohmann::ordered_json;

// What clients take for a probability of zero: JSON has no infinity.
constexpr double kLeastLogprob = -9999.0;

double FiniteLogprob(double logprob) { return logprob >= kLeastLogprob ? logprob : kLeastLogprob; }

size_t CountCharacters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return (static_cast<unsigned char>(byte) >> 6) != 2; }));
}

Json BytesOf(std::string_view bytes) {
  Json list = Json::array();
  for (const char byte : bytes) list.push_back(static_cast<unsigned char>(byte));
  return list;
}

}  // namespace

ApiError ErrorOfEngine(const Status& status) {
  switch (status.code()) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kResourceExhausted:
    case StatusCode::kUnsupported:
      return {.code = "invalid_value", .message = status.message()};
    default:
      return {.status = 500, .type = "server_error", .code = "internal_error", .message = status.message()};
  }
}

ApiAnswer::ApiAnswer(const ApiRequest& request, const tokenizer::Tokenizer& tokenizer)
    : tokenizer_(tokenizer),
      kind_(request.kind),
      model_(request.model),
      stops_(request.stops),
      stop_token_ids_(request.generation.stop_token_ids),
      logprobs_(request.logprobs),
      echo_(request.echo) {
  usage_.prompt_tokens = static_cast<int64_t>(request.generation.prompt.size());
  const auto num_choices = static_cast<size_t>(request.generation.num_answers);
  choices_.reserve(num_choices);
  for (size_t i = 0; i < num_choices; ++i) {
    choices_.push_back(
        {.stream = engine::TextStream(tokenizer, {.stops = stops_, .min_tokens = request.generation.min_tokens})});
  }
}

void ApiAnswer::Take(engine::Event event) {
  switch (event.kind) {
    case engine::Event::Kind::kToken:
      TakeToken(std::move(event));
      break;
    case engine::Event::Kind::kPromptToken:
      prompt_tokens_.push_back({.id = event.token, .logprob = event.logprob, .top = std::move(event.top)});
      break;
    case engine::Event::Kind::kFinished:
      TakeEnd(event);
      break;
    case engine::Event::Kind::kError:
      error_ = ErrorOfEngine(event.status);
      break;
    case engine::Event::Kind::kDone:
      break;
  }
}

void ApiAnswer::TakeToken(engine::Event event) {
  Choice& choice = choices_[static_cast<size_t>(event.answer)];
  if (choice.finish_reason != nullptr) return;
  ++choice.num_tokens;
  if (event.ends_answer) return;
  if (logprobs_) {
    choice.tokens.push_back(
        {.id = event.token, .logprob = event.logprob, .top = std::move(event.top), .begin = choice.stream.num_bytes()});
  }
  choice.text += choice.stream.Append(event.token);
  if (choice.stream.stop()) End(choice, "stop");
}

void ApiAnswer::TakeEnd(const engine::Event& event) {
  usage_.cached_tokens = std::max(usage_.cached_tokens, event.stats->cached_tokens);
  Choice& choice = choices_[static_cast<size_t>(event.answer)];
  if (choice.finish_reason != nullptr) return;
  choice.text += choice.stream.Finish();
  const bool stopped = event.stats->reason == engine::FinishReason::kStop || choice.stream.stop().has_value();
  const auto& ids = stop_token_ids_;
  if (std::find(ids.begin(), ids.end(), event.stats->stop_token) != ids.end()) {
    choice.stop_token = event.stats->stop_token;
  }
  End(choice, stopped ? "stop" : "length");
}

void ApiAnswer::End(Choice& choice, const char* finish_reason) {
  choice.finish_reason = finish_reason;
  choice.stop = choice.stream.stop();
  ++num_complete_;
  if (!choice.stop) return;
  // Tokens that lie wholly in the stop string or behind it are no part of the text.
  std::erase_if(choice.tokens, [&](const Token& token) { return token.begin >= choice.text.size(); });
}

ApiUsage ApiAnswer::usage() const {
  ApiUsage usage = usage_;
  for (const Choice& choice : choices_) usage.output_tokens += choice.num_tokens;
  return usage;
}

std::string ApiAnswer::TokenText(int32_t id) const {
  return ReplaceInvalidUtf8(tokenizer_.TokenBytes(id, /*with_special=*/true));
}

Json ApiAnswer::StopReason(const Choice& choice) const {
  if (choice.stop) return stops_[*choice.stop];
  if (choice.stop_token) return *choice.stop_token;
  return nullptr;
}

Json ApiAnswer::ChatLogprobs(const Choice& choice) const {
  const auto entry = [this](int32_t id, double logprob) {
    return Json{{"token", TokenText(id)},
                {"logprob", FiniteLogprob(logprob)},
                {"bytes", BytesOf(tokenizer_.TokenBytes(id, /*with_special=*/true))}};
  };
  Json content = Json::array();
  for (const Token& token : choice.tokens) {
    Json told = entry(token.id, token.logprob);
    told["top_logprobs"] = Json::array();
    for (const TokenLogprob& other : token.top) told["top_logprobs"].push_back(entry(other.id, other.logprob));
    content.push_back(std::move(told));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

Json ApiAnswer::ChatChoice(const Choice& choice, size_t index) const {
  return {{"index", index},
          {"message", {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}}},
          {"logprobs", logprobs_ ? ChatLogprobs(choice) : Json()},
          {"finish_reason", choice.finish_reason},
          {"stop_reason", StopReason(choice)}};
}

Json ApiAnswer::CompletionLogprobs(const Choice& choice) const {
  const std::string text = echo_.value_or("") + choice.text;
  Json tokens = Json::array();
  Json logprobs = Json::array();
  Json tops = Json::array();
  Json offsets = Json::array();
  size_t begin = 0;      // in bytes
  size_t character = 0;  // that begins there
  const auto add = [&](const Token& token, size_t token_begin) {
    token_begin = std::clamp(token_begin, begin, std::max(begin, text.size()));
    character += CountCharacters(std::string_view(text).substr(begin, token_begin - begin));
    begin = token_begin;
    offsets.push_back(character);
    tokens.push_back(TokenText(token.id));
    // Of the first token of a prompt there is nothing to tell.
    const bool told = !std::isnan(token.logprob);
    logprobs.push_back(told ? Json(FiniteLogprob(token.logprob)) : Json());
    Json top = Json::object();
    for (const TokenLogprob& other : token.top) top.emplace(TokenText(other.id), FiniteLogprob(other.logprob));
    if (told) top.emplace(TokenText(token.id), FiniteLogprob(token.logprob));
    tops.push_back(told ? std::move(top) : Json());
  };
  tokenizer::IncrementalDetokenizer prompt(tokenizer_, /*with_special=*/true);
  size_t prompt_begin = 0;
  for (size_t i = 0; i < prompt_tokens_.size(); ++i) {
    const Token& token = prompt_tokens_[i];
    add(token, prompt_begin);
    // A BOS that the tokenizer put in front is no part of the text.
    const bool added = i == 0 && token.id == tokenizer_.bos_id() && !text.starts_with(TokenText(token.id));
    if (!added) prompt_begin += prompt.Append(token.id).size();
  }
  for (const Token& token : choice.tokens) add(token, echo_.value_or("").size() + token.begin);
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(tops)},
          {"text_offset", std::move(offsets)}};
}

Json ApiAnswer::CompletionChoice(const Choice& choice, size_t index) const {
  return {{"index", index},
          {"text", echo_.value_or("") + choice.text},
          {"logprobs", logprobs_ ? CompletionLogprobs(choice) : Json()},
          {"finish_reason", choice.finish_reason},
          {"stop_reason", StopReason(choice)}};
}

Json ApiAnswer::Body(const std::string& id, int64_t created_s) const {
  const bool is_chat = kind_ == ApiKind::kChat;
  Json choices = Json::array();
  for (size_t i = 0; i < choices_.size(); ++i) {
    choices.push_back(is_chat ? ChatChoice(choices_[i], i) : CompletionChoice(choices_[i], i));
  }
  const ApiUsage used = usage();
  return {{"id", (is_chat ? "chatcmpl-" : "cmpl-") + id},
          {"object", is_chat ? "chat.completion" : "text_completion"},
          {"created", created_s},
          {"model", model_},
          {"choices", std::move(choices)},
          {"usage",
           {{"prompt_tokens", used.prompt_tokens},
            {"completion_tokens", used.output_tokens},
            {"total_tokens", used.prompt_tokens + used.output_tokens},
            {"prompt_tokens_details", {{"cached_tokens", used.cached_tokens}}}}}};
}

}  // namespace adit::cli
