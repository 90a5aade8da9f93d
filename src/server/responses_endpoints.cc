// OpenAI's /v1/responses, and those that are kept.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/error.h"
#include "server/chat_fields.h"
#include "server/generation_reply.h"
#include "server/guarded_body.h"
#include "server/json_fields.h"
#include "server/list_page.h"
#include "server/request_body.h"
#include "server/request_checks.h"
#include "server/responses_request.h"
#include "server/responses_writer.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kResponsePrefix = "resp_";
constexpr int64_t kUsualItemsTold = 20;
constexpr int64_t kMaxItemsTold = 100;

// A response as it is kept.
struct Kept {
  Json response;
  Json input;    // items of its request
  Json context;  // of the conversation before it
};

// Nothing when it is not there, or is another tenant's.
std::optional<Kept> Find(Call& call, const std::string& id) {
  ResponseStore* const store = call.service.responses();
  if (store == nullptr || !id.starts_with(kResponsePrefix)) return std::nullopt;
  const std::optional<std::string> text = store->Get(id);
  if (!text) return std::nullopt;
  Json record = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object() || record.value("tenant", Json()) != call.holder.tenant) return std::nullopt;
  return Kept{.response = std::move(record["response"]),
              .input = std::move(record["input"]),
              .context = std::move(record["context"])};
}

// All items of the conversation that a response ends.
SharedJson ConversationBehind(Call& call, const std::string& id) {
  std::optional<Kept> kept = Find(call, id);
  if (!kept) return nullptr;
  auto items = std::make_shared<Json>(std::move(kept->context));
  items->insert(items->end(), kept->input.begin(), kept->input.end());
  const Json& output = kept->response["output"];
  items->insert(items->end(), output.begin(), output.end());
  return items;
}

std::unique_ptr<Reply> NotFound(Call& call) {
  return ErrorReply({.status = 404,
                     .code = "response_not_found",
                     .message = fmt::format("there is no stored response '{}'", call.argument),
                     .param = "response_id"},
                    *call.record);
}

std::unique_ptr<Reply> AnswerUnordered(const Json& body) {
  return JsonReply(body.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

// One that is being kept: its place is taken before anything is generated, and given back if nothing comes of it.
class Keeper {
 public:
  Keeper(ResponseStore& store, std::string id, Json record)
      : store_(store), id_(std::move(id)), record_(std::move(record)) {}
  ~Keeper() {
    if (!kept_) store_.Delete(id_);
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  Status Reserve() { return Put(Json{{"id", id_}, {"status", "in_progress"}, {"output", Json::array()}}); }
  bool Keep(const nlohmann::ordered_json& response) {
    kept_ = Put(Json(response)).ok();
    return kept_;
  }

 private:
  Status Put(Json response) {
    record_["response"] = std::move(response);
    return store_.Put(id_, record_.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
  }

  ResponseStore& store_;
  const std::string id_;
  Json record_;
  bool kept_ = false;
};

ApiError CannotKeep(const Status& status) {
  return {.status = 507,
          .type = "server_error",
          .code = "insufficient_storage",
          .message = status.message() + "; with \"store\": false the request needs no room",
          .param = "store"};
}

std::variant<ResponsesRequest, ApiError> Read(Call& call, ResponsesUse use, const std::string& id) {
  std::variant<Json, ApiError> body = use == ResponsesUse::kCount ? ReadBody(call.request) : ReadGuardedBody(call);
  if (auto* error = std::get_if<ApiError>(&body)) return std::move(*error);
  return ReadResponsesRequest(std::get<Json>(body), use, id,
                              [&call](const std::string& previous) { return ConversationBehind(call, previous); });
}

}  // namespace

std::unique_ptr<Reply> CreateResponse(Call& call) {
  const std::string id = NewRequestId();
  std::variant<ResponsesRequest, ApiError> read = Read(call, ResponsesUse::kAnswer, id);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  ResponsesRequest& request = std::get<ResponsesRequest>(read);
  ResponseStore* const store = call.service.responses();
  ResponseFrame frame{.id = id, .echo = std::move(request.echo), .store = request.store.value_or(true), .keep = {}};
  if (frame.store && store == nullptr) {
    if (request.store) return ErrorReply(CannotKeep(Unsupported("responses are not kept here")), *call.record);
    frame.store = false;
  }
  if (frame.store) {
    auto keeper = std::make_shared<Keeper>(*store, std::string(kResponsePrefix) + id,
                                           Json{{"tenant", call.holder.tenant},
                                                {"input", std::move(*request.input)},
                                                {"context", std::move(*request.context)}});
    if (const Status status = keeper->Reserve(); !status.ok()) return ErrorReply(CannotKeep(status), *call.record);
    frame.keep = [keeper](const nlohmann::ordered_json& response) { return keeper->Keep(response); };
  }
  const auto make_writer = [frame = std::move(frame)](ApiAnswer& answer, const AnswerHead& head) {
    return MakeResponsesWriter(answer, head, frame);
  };
  const std::string text = OrderedResponsesText(request.chat, call.request.body);
  return Generate(call, *request.chat.body,
                  {.kind = ApiKind::kChat,
                   .make_writer = make_writer,
                   .rename = &RenameForResponses,
                   .ignored = std::move(request.chat.ignored),
                   .text = text});
}

std::unique_ptr<Reply> CountResponseTokens(Call& call) {
  const std::string id = NewRequestId();
  std::variant<ResponsesRequest, ApiError> read = Read(call, ResponsesUse::kCount, id);
  if (const auto* error = std::get_if<ApiError>(&read)) return ErrorReply(*error, *call.record);
  const ChatBody& chat = std::get<ResponsesRequest>(read).chat;
  const ApiModel& model = call.model->api();
  if (const auto error = CheckAsked(call, chat.body->value("model", model.name), chat.ignored); error) {
    return ErrorReply(*error, *call.record);
  }
  std::variant<int64_t, ApiError> count = CountPrompt(*chat.body, model, OrderedResponsesText(chat, call.request.body));
  if (auto* error = std::get_if<ApiError>(&count)) {
    RenameForResponses(*error);
    return ErrorReply(*error, *call.record);
  }
  return AnswerUnordered({{"object", "response.input_tokens"}, {"input_tokens", std::get<int64_t>(count)}});
}

std::unique_ptr<Reply> ShowResponse(Call& call) {
  if (QueryParameter(call.request.query, "stream") == "true") {
    return ErrorReply({.code = "unsupported_parameter",
                       .message = "'stream' is not supported for stored responses",
                       .param = "stream"},
                      *call.record);
  }
  const std::optional<Kept> kept = Find(call, call.argument);
  return kept ? AnswerUnordered(kept->response) : NotFound(call);
}

std::unique_ptr<Reply> DeleteResponse(Call& call) {
  if (!Find(call, call.argument) || !call.service.responses()->Delete(call.argument)) return NotFound(call);
  return AnswerUnordered({{"id", call.argument}, {"object", "response"}, {"deleted", true}});
}

std::unique_ptr<Reply> CancelResponse(Call& call) {
  if (!Find(call, call.argument)) return NotFound(call);
  return ErrorReply({.code = "invalid_value",
                     .message = "only responses that are made in the background can be cancelled, and none are here; "
                                "end the connection of one that is under way",
                     .param = "response_id"},
                    *call.record);
}

std::unique_ptr<Reply> ListInputItems(Call& call) {
  const std::optional<Kept> kept = Find(call, call.argument);
  if (!kept) return NotFound(call);
  Json items = kept->context;
  items.insert(items.end(), kept->input.begin(), kept->input.end());
  std::reverse(items.begin(), items.end());
  const auto page = ListPage(items, call.request.query, kUsualItemsTold, kMaxItemsTold);
  if (const auto* error = std::get_if<ApiError>(&page)) return ErrorReply(*error, *call.record);
  return AnswerUnordered(std::get<nlohmann::ordered_json>(page));
}

}  // namespace adit::server
