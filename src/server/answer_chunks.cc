#include "server/answer_chunks.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

void WriteEvent(const OrderedJson& json, std::string& out) {
  out += "data: ";
  out += json.dump(-1, ' ', /*ensure_ascii=*/false, OrderedJson::error_handler_t::replace);
  out += "\n\n";
}

}  // namespace

AnswerChunks::AnswerChunks(ApiAnswer& answer, AnswerHead head) : answer_(answer), head_(std::move(head)) {
  for (size_t i = 0; i < answer.num_choices(); ++i) told_.push_back({.logprobs = CompletionLogprobs(answer.names())});
}

void AnswerChunks::Write(std::string& out) {
  const ApiRequest& request = answer_.request();
  for (size_t i = 0; i < told_.size(); ++i) {
    AnswerChoice& choice = answer_.choice(i);
    Told& told = told_[i];
    if (told.ended) continue;
    const bool ended = choice.finish_reason() != nullptr && (choice.has_stats() || !request.timings);
    if (!ended && (!choice.has_news() || choice.num_tokens() - told.num_tokens < request.stream.interval)) continue;
    told.num_tokens = choice.num_tokens();
    told.ended = ended;
    if (request.kind == ApiKind::kChat) {
      WriteChat(i, choice.TakeNews(), out);
    } else {
      WriteCompletion(i, choice.TakeNews(), out);
    }
    told.begun = true;
  }
}

OrderedJson AnswerChunks::Chunk(OrderedJson choices) const {
  const ApiRequest& request = answer_.request();
  const bool is_chat = request.kind == ApiKind::kChat;
  OrderedJson chunk = {{"id", (is_chat ? "chatcmpl-" : "cmpl-") + head_.id},
                       {"object", is_chat ? "chat.completion.chunk" : "text_completion"},
                       {"created", head_.created_s},
                       {"model", request.model}};
  AddIdentity(request, chunk);
  chunk["choices"] = std::move(choices);
  if (request.stream.continuous_usage) {
    chunk["usage"] = UsageJson(answer_.usage());
  } else if (request.stream.usage) {
    chunk["usage"] = nullptr;
  }
  return chunk;
}

void AnswerChunks::Send(OrderedJson choice, std::string& out) const {
  OrderedJson choices = OrderedJson::array();
  choices.push_back(std::move(choice));
  WriteEvent(Chunk(std::move(choices)), out);
}

OrderedJson AnswerChunks::DeltaJson(size_t index, const OutputDelta& delta) {
  switch (delta.kind) {
    case OutputDelta::Kind::kContent:
      return {{"content", delta.text}};
    case OutputDelta::Kind::kReasoning:
      return {{"reasoning_content", delta.text}, {"reasoning", delta.text}};
    case OutputDelta::Kind::kToolCall:
      break;
  }
  const OrderedJson function = {{"name", delta.name}, {"arguments", delta.text}};
  const int64_t number = told_[index].num_calls++;
  if (answer_.request().output.legacy) return {{"function_call", function}};
  OrderedJson calls = OrderedJson::array();
  calls.push_back({{"index", number},
                   {"id", CallPrefix(head_, index) + std::to_string(number)},
                   {"type", "function"},
                   {"function", function}});
  return {{"tool_calls", std::move(calls)}};
}

void AnswerChunks::AddTokens(const AnswerChoice::News& news, OrderedJson& choice) const {
  if (!answer_.request().token_ids) return;
  choice["token_ids"] = OrderedJson::array();
  for (const AnswerToken& token : news.tokens) choice["token_ids"].push_back(token.id);
}

void AnswerChunks::AddEnd(size_t index, OrderedJson& choice) const {
  const AnswerChoice& from = answer_.choice(index);
  choice["finish_reason"] = from.finish_reason();
  choice["stop_reason"] = answer_.StopReason(from);
  AddWhyStopped(from, choice);
  if (answer_.request().timings) choice["timings"] = TimingsJson(from.stats());
}

void AnswerChunks::WriteChat(size_t index, AnswerChoice::News news, std::string& out) {
  Told& told = told_[index];
  const auto choice = [index](OrderedJson delta) {
    return OrderedJson{
        {"index", index}, {"delta", std::move(delta)}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
  };
  if (!told.begun) Send(choice({{"role", "assistant"}, {"content", ""}}), out);
  // Tokens whose text waits for the end of a call are told with an empty delta.
  if (news.deltas.empty() && !news.tokens.empty()) news.deltas.push_back({});
  for (size_t i = 0; i < news.deltas.size(); ++i) {
    OrderedJson next = choice(DeltaJson(index, news.deltas[i]));
    if (i == 0 && answer_.request().logprobs) next["logprobs"] = ChatLogprobs(news.tokens, answer_.names());
    if (i == 0) AddTokens(news, next);
    Send(std::move(next), out);
  }
  if (!told.ended) return;
  OrderedJson last = choice(OrderedJson::object());
  AddEnd(index, last);
  Send(std::move(last), out);
}

void AnswerChunks::WriteCompletion(size_t index, const AnswerChoice::News& news, std::string& out) {
  Told& told = told_[index];
  const ApiRequest& request = answer_.request();
  const std::string& echo = answer_.Echo(index);
  std::string text = told.begun ? std::string() : echo;
  for (const OutputDelta& delta : news.deltas) text += delta.text;
  OrderedJson choice = {{"index", index}, {"text", text}, {"logprobs", nullptr}, {"finish_reason", nullptr}};
  if (request.logprobs) {
    told.text += text;
    std::vector<AnswerToken> tokens;
    if (!told.begun && !echo.empty()) tokens = answer_.PromptTokens(index);
    for (const AnswerToken& token : news.tokens) {
      tokens.push_back(token);
      tokens.back().begin += echo.size();
    }
    choice["logprobs"] = told.logprobs.Of(tokens, told.text);
  }
  AddTokens(news, choice);
  if (told.ended) AddEnd(index, choice);
  Send(std::move(choice), out);
}

void AnswerChunks::WriteEnd(std::string& out) {
  if (answer_.request().stream.usage) {
    OrderedJson chunk = Chunk(OrderedJson::array());
    chunk["usage"] = UsageJson(answer_.usage());
    WriteEvent(chunk, out);
  }
  out += "data: [DONE]\n\n";
}

void AnswerChunks::WriteFailure(const ApiError& error, std::string& out) {
  WriteEvent(ErrorBody(error), out);
  out += "data: [DONE]\n\n";
}

}  // namespace adit::server
