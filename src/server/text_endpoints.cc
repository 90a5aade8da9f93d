// Endpoints that turn texts into tokens and back.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/utf8.h"
#include "server/chat_fields.h"
#include "server/json_fields.h"
#include "server/request_body.h"
#include "server/sampling_fields.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// A body of which one field after the other is read.
class Body {
 public:
  explicit Body(Call& call) : call_(call), read_(ReadBody(call.request)) {
    if (const auto* json = std::get_if<nlohmann::json>(&read_)) fields_.emplace(*json);
  }
  // What stands against it so far.
  std::optional<ApiError> error() const {
    if (const auto* error = std::get_if<ApiError>(&read_)) return *error;
    return fields_->error();
  }
  FieldReader& fields() { return *fields_; }
  const ApiModel& model() const { return call_.model->api(); }
  std::unique_ptr<Reply> Error() const { return ErrorReply(*error(), *call_.record); }

  // The prompt of a chat, as its template writes it.
  std::vector<chat::PromptSegment> RenderChat() {
    OutputWish output;
    const OrderedBody ordered(std::get<nlohmann::json>(read_), call_.request.body);
    const ChatWish wish = ReadChatWish(*fields_, ordered, model(), output);
    if (fields_->error()) return {};
    Result<std::vector<chat::PromptSegment>> rendered = model().chat->Render(wish.messages, wish.prompt);
    if (!rendered.ok()) fields_->Fail("chat_template_error", "messages", rendered.status().message());
    return rendered.ok() ? std::move(rendered).value() : std::vector<chat::PromptSegment>();
  }

 private:
  Call& call_;
  const std::variant<nlohmann::json, ApiError> read_;
  std::optional<FieldReader> fields_;
};

std::vector<int32_t> TokensOf(Body& body) {
  FieldReader& fields = body.fields();
  if (fields.Find("messages") != nullptr) {
    const std::vector<chat::PromptSegment> rendered = body.RenderChat();
    return fields.error() ? std::vector<int32_t>() : body.model().chat->Encode(rendered);
  }
  const bool add_special = fields.Flag("add_special_tokens").value_or(true);
  const bool parse_special = fields.Flag("parse_special").value_or(true);
  const char* key = fields.Find("prompt") != nullptr ? "prompt" : "content";
  if (fields.Find(key) == nullptr) {
    fields.Fail("missing_required_parameter", "prompt", "one of 'prompt', 'content' and 'messages' is wanted");
    return {};
  }
  const std::optional<std::string> text = fields.Text(key, 0, SIZE_MAX);
  return text ? body.model().tokenizer.Encode(*text, parse_special, add_special) : std::vector<int32_t>();
}

}  // namespace

std::unique_ptr<Reply> TokenizeText(Call& call) {
  Body body(call);
  if (body.error()) return body.Error();
  const std::vector<int32_t> ids = TokensOf(body);
  const bool with_texts =
      body.fields().Flag("return_token_strs").value_or(false) || body.fields().Flag("with_pieces").value_or(false);
  if (body.error()) return body.Error();
  OrderedJson answer = {{"count", ids.size()}, {"max_model_len", body.model().max_context}, {"tokens", ids}};
  if (with_texts) {
    answer["token_strs"] = OrderedJson::array();
    for (const int32_t id : ids) {
      answer["token_strs"].push_back(ReplaceInvalidUtf8(body.model().tokenizer.TokenBytes(id, /*with_special=*/true)));
    }
  }
  return JsonAnswer(answer);
}

std::unique_ptr<Reply> DetokenizeIds(Call& call) {
  Body body(call);
  if (body.error()) return body.Error();
  std::vector<int32_t> ids;
  const nlohmann::json* tokens = body.fields().Find("tokens");
  if (tokens == nullptr) {
    body.fields().Fail("missing_required_parameter", "tokens", "'tokens' is missing");
  } else {
    ReadTokenIds(body.fields(), *tokens, "tokens", body.model().vocab_size, ids);
  }
  if (body.error()) return body.Error();
  const Result<std::string> decoded = body.model().tokenizer.Decode(ids, /*with_special=*/true);
  const std::string text = decoded.ok() ? ReplaceInvalidUtf8(*decoded) : std::string();
  return JsonAnswer({{"prompt", text}, {"content", text}});
}

// As vLLM tells it, so that clients that count tokens need no tokenizer of their own.
std::unique_ptr<Reply> ShowTokenizer(Call& call) {
  const engine::LoadedModel& model = call.model->model();
  const tokenizer::Tokenizer& tokenizer = model.tokenizer();
  const auto text = [&](std::optional<int32_t> id) {
    return id ? OrderedJson(ReplaceInvalidUtf8(tokenizer.TokenBytes(*id, /*with_special=*/true))) : OrderedJson();
  };
  OrderedJson answer = {{"tokenizer_class", tokenizer.Description()},
                        {"vocab_size", tokenizer.vocab_size()},
                        {"bos_token", text(tokenizer.bos_id())},
                        {"eos_token", text(tokenizer.eos_id())},
                        {"add_bos_token", tokenizer.adds_bos()},
                        {"add_eos_token", tokenizer.adds_eos()},
                        {"model_max_length", call.model->api().max_context}};
  const std::string_view chat_template = model.chat_template();
  answer["chat_template"] =
      chat_template.empty() ? OrderedJson() : OrderedJson(ReplaceInvalidUtf8(std::string(chat_template)));
  return JsonAnswer(answer);
}

std::unique_ptr<Reply> ApplyTemplate(Call& call) {
  Body body(call);
  if (body.error()) return body.Error();
  const std::vector<chat::PromptSegment> rendered = body.RenderChat();
  const bool with_tokens = body.fields().Flag("return_tokens").value_or(false);
  if (body.error()) return body.Error();
  std::string prompt;
  for (const chat::PromptSegment& segment : rendered) prompt += segment.text;
  OrderedJson answer = {{"prompt", std::move(prompt)}};
  if (with_tokens) answer["tokens"] = body.model().chat->Encode(rendered);
  return JsonAnswer(answer);
}

std::unique_ptr<Reply> CountChatTokens(Call& call) {
  Body body(call);
  if (body.error()) return body.Error();
  const std::vector<chat::PromptSegment> rendered = body.RenderChat();
  if (body.error()) return body.Error();
  return JsonAnswer(
      {{"object", "response.input_tokens"}, {"input_tokens", body.model().chat->Encode(rendered).size()}});
}

}  // namespace adit::server
