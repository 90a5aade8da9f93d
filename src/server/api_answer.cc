#include "server/api_answer.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tokenizer/detokenizer.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

}  // namespace

OrderedJson UsageJson(const ApiUsage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.output_tokens},
          {"total_tokens", usage.prompt_tokens + usage.output_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}},
          {"completion_tokens_details", {{"reasoning_tokens", usage.reasoning_tokens}}}};
}

OrderedJson TimingsJson(const AnswerStats& stats) {
  const auto per_second = [](int64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
  };
  const int64_t computed = stats.prompt_tokens - stats.cached_tokens;
  const double prompt_s = std::max(0.0, stats.first_token_seconds - stats.queue_seconds);
  const double decode_s = std::max(0.0, stats.total_seconds - stats.first_token_seconds);
  return {{"queue_ms", stats.queue_seconds * 1e3},
          {"cache_n", stats.cached_tokens},
          {"prompt_n", computed},
          {"prompt_ms", prompt_s * 1e3},
          {"prompt_per_second", per_second(computed, prompt_s)},
          {"predicted_n", stats.output_tokens},
          {"predicted_ms", decode_s * 1e3},
          {"predicted_per_second", per_second(std::max<int64_t>(0, stats.output_tokens - 1), decode_s)}};
}

ApiAnswer::ApiAnswer(const ApiRequest& request, const tokenizer::Tokenizer& tokenizer)
    : request_(request),
      tokenizer_(tokenizer),
      prompt_tokens_(request.num_prompts()),
      cached_tokens_(request.num_prompts(), 0) {
  num_prompt_tokens_.push_back(request.generation.prompt.size());
  for (const auto& prompt : request.more_prompts) num_prompt_tokens_.push_back(prompt.size());
  if (request.token_ids) {
    prompts_ = request.more_prompts;
    prompts_.insert(prompts_.begin(), request.generation.prompt);
  }
  const size_t num_choices = request.num_prompts() * static_cast<size_t>(request.generation.num_answers);
  choices_.reserve(num_choices);
  for (size_t i = 0; i < num_choices; ++i) choices_.emplace_back(request, tokenizer);
}

void ApiAnswer::Take(size_t prompt, engine::Event event) {
  const size_t index =
      prompt * static_cast<size_t>(request_.generation.num_answers) + static_cast<size_t>(event.answer);
  switch (event.kind) {
    case engine::Event::Kind::kPromptToken:
      prompt_tokens_[prompt].push_back({.id = event.token, .logprob = event.logprob, .top = std::move(event.top)});
      PlacePromptTokens(prompt);
      return;
    case engine::Event::Kind::kError:
      if (!error_) error_ = ErrorOfRun(event.status);
      return;
    case engine::Event::Kind::kDone:
      return;
    case engine::Event::Kind::kToken:
    case engine::Event::Kind::kFinished:
      break;
  }
  AnswerChoice& choice = choices_[index];
  const bool had_ended = choice.finish_reason() != nullptr;
  if (event.kind == engine::Event::Kind::kToken) {
    choice.TakeToken(std::move(event));
  } else {
    cached_tokens_[prompt] = std::max(cached_tokens_[prompt], event.stats->cached_tokens);
    choice.TakeEnd(*event.stats);
  }
  if (!had_ended && choice.finish_reason() != nullptr) ++num_complete_;
}

// Where the texts of the prompt's tokens begin in that of the prompt.
void ApiAnswer::PlacePromptTokens(size_t prompt) {
  std::vector<AnswerToken>& tokens = prompt_tokens_[prompt];
  // Once, when all are there.
  if (request_.echo.empty() || tokens.size() < num_prompt_tokens_[prompt]) return;
  tokenizer::IncrementalDetokenizer text(tokenizer_, /*with_special=*/true);
  const TokenNames names{tokenizer_};
  size_t begin = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens[i].begin = begin;
    // A BOS that the tokenizer put in front is no part of the text.
    const bool is_bos = i == 0 && tokens[i].id == tokenizer_.bos_id();
    if (is_bos && !request_.echo[prompt].starts_with(names.Of(tokens[i].id))) continue;
    begin += text.Append(tokens[i].id).size();
  }
}

bool ApiAnswer::complete(size_t prompt) const {
  const auto num_answers = static_cast<size_t>(request_.generation.num_answers);
  for (size_t i = prompt * num_answers; i < (prompt + 1) * num_answers; ++i) {
    if (choices_[i].finish_reason() == nullptr) return false;
  }
  return true;
}

ApiUsage ApiAnswer::usage() const {
  ApiUsage usage;
  for (const size_t tokens : num_prompt_tokens_) usage.prompt_tokens += static_cast<int64_t>(tokens);
  for (const int64_t cached : cached_tokens_) usage.cached_tokens += cached;
  for (const AnswerChoice& choice : choices_) {
    usage.output_tokens += choice.num_tokens();
    usage.reasoning_tokens += choice.num_reasoning_tokens();
  }
  return usage;
}

const std::string& ApiAnswer::Echo(size_t choice) const {
  static const std::string kNone;
  return request_.echo.empty() ? kNone : request_.echo[PromptOf(choice)];
}

OrderedJson ApiAnswer::StopReason(const AnswerChoice& choice) const {
  if (choice.stop()) return request_.stops[*choice.stop()];
  if (choice.stop_token()) return *choice.stop_token();
  return nullptr;
}

const char* ServiceTier(const ApiRequest& request) { return request.is_flex ? "flex" : "default"; }

void AddIdentity(const ApiRequest& request, OrderedJson& out) {
  if (!request.fingerprint.empty()) out["system_fingerprint"] = request.fingerprint;
  out["service_tier"] = ServiceTier(request);
}

std::string CallPrefix(const AnswerHead& head, size_t choice) { return fmt::format("call_{}_{}_", head.id, choice); }

OrderedJson MessageJson(const std::vector<OutputDelta>& deltas, const ApiRequest& request,
                        const std::string& call_prefix) {
  std::string content;
  std::string reasoning;
  OrderedJson calls = OrderedJson::array();
  for (const OutputDelta& delta : deltas) {
    if (delta.kind == OutputDelta::Kind::kContent) content += delta.text;
    if (delta.kind == OutputDelta::Kind::kReasoning) reasoning += delta.text;
    if (delta.kind != OutputDelta::Kind::kToolCall) continue;
    calls.push_back({{"id", call_prefix + std::to_string(calls.size())},
                     {"type", "function"},
                     {"function", {{"name", delta.name}, {"arguments", delta.text}}}});
  }
  const bool calls_only = !calls.empty() && content.empty();
  OrderedJson message = {
      {"role", "assistant"}, {"content", calls_only ? OrderedJson() : OrderedJson(content)}, {"refusal", nullptr}};
  if (!reasoning.empty()) {
    message["reasoning_content"] = reasoning;
    message["reasoning"] = std::move(reasoning);
  }
  if (calls.empty()) return message;
  if (request.output.legacy) {
    message["function_call"] = calls[0]["function"];
  } else {
    message["tool_calls"] = std::move(calls);
  }
  return message;
}

void AddVerdicts(const AnswerChoice& choice, OrderedJson& out) {
  if (const std::vector<guard::Verdict> all = choice.verdicts(); !all.empty()) out["adit"]["guard"] = VerdictsJson(all);
}

void AddWhyStopped(const AnswerChoice& choice, OrderedJson& out) {
  AddVerdicts(choice, out);
  if (!choice.has_stats() || choice.stop() || choice.blocked()) return;
  const FinishReason reason = choice.stats().reason;
  if (reason == FinishReason::kDeadline) out["adit"]["stop_reason"] = "deadline";
  if (reason == FinishReason::kCancelled) out["adit"]["stop_reason"] = "cancelled";
}

void ApiAnswer::AddExtras(size_t index, const std::vector<AnswerToken>& tokens, OrderedJson& out) const {
  AddWhyStopped(choices_[index], out);
  if (request_.token_ids) {
    out["token_ids"] = OrderedJson::array();
    for (const AnswerToken& token : tokens) out["token_ids"].push_back(token.id);
  }
  if (request_.kind == ApiKind::kChat) return;
  if (request_.token_ids) out["prompt_token_ids"] = prompts_[PromptOf(index)];
  if (request_.prompt_logprobs) out["prompt_logprobs"] = PromptLogprobs(PromptTokens(index), names());
}

OrderedJson ApiAnswer::ChatChoice(size_t index) {
  AnswerChoice& choice = choices_[index];
  const AnswerChoice::News news = choice.TakeNews();
  OrderedJson told = {{"index", index},
                      {"message", MessageJson(news.deltas, request_, call_prefix_)},
                      {"logprobs", request_.logprobs ? ChatLogprobs(news.tokens, names()) : OrderedJson()},
                      {"finish_reason", choice.finish_reason()},
                      {"stop_reason", StopReason(choice)}};
  AddExtras(index, news.tokens, told);
  return told;
}

OrderedJson ApiAnswer::CompletionChoice(size_t index) {
  AnswerChoice& choice = choices_[index];
  const AnswerChoice::News news = choice.TakeNews();
  std::string text = Echo(index);
  const size_t base = text.size();
  for (const OutputDelta& delta : news.deltas) text += delta.text;
  OrderedJson logprobs;
  if (request_.logprobs) {
    std::vector<AnswerToken> tokens;
    if (!request_.echo.empty()) tokens = PromptTokens(index);
    for (const AnswerToken& token : news.tokens) {
      tokens.push_back(token);
      tokens.back().begin += base;
    }
    logprobs = CompletionLogprobs(names()).Of(tokens, text);
  }
  OrderedJson told = {{"index", index},
                      {"text", std::move(text)},
                      {"logprobs", std::move(logprobs)},
                      {"finish_reason", choice.finish_reason()},
                      {"stop_reason", StopReason(choice)}};
  AddExtras(index, news.tokens, told);
  return told;
}

OrderedJson ApiAnswer::Body(const AnswerHead& head) {
  const bool is_chat = request_.kind == ApiKind::kChat;
  OrderedJson choices = OrderedJson::array();
  for (size_t i = 0; i < choices_.size(); ++i) {
    call_prefix_ = CallPrefix(head, i);
    choices.push_back(is_chat ? ChatChoice(i) : CompletionChoice(i));
  }
  OrderedJson body = {{"id", (is_chat ? "chatcmpl-" : "cmpl-") + head.id},
                      {"object", is_chat ? "chat.completion" : "text_completion"},
                      {"created", head.created_s},
                      {"model", request_.model}};
  AddIdentity(request_, body);
  body["choices"] = std::move(choices);
  body["usage"] = UsageJson(usage());
  if (request_.timings) body["timings"] = TimingsJson(choices_.front().stats());
  if (!is_chat) return body;
  if (request_.token_ids) body["prompt_token_ids"] = prompts_.front();
  if (request_.prompt_logprobs) body["prompt_logprobs"] = PromptLogprobs(PromptTokens(0), names());
  return body;
}

}  // namespace adit::server
