#include "server/model_choice.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "server/model_pool.h"
#include "server/ollama_request.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Json = nlohmann::json;

// Looks for the member "model" of the outermost object, without keeping anything else.
class ModelField : public nlohmann::json_sax<Json> {
 public:
  const std::string& model() const { return model_; }

  bool key(string_t& name) override {
    is_next_ = depth_ == 1 && name == "model";
    return true;
  }
  bool string(string_t& text) override {
    if (is_next_) model_ = text;
    return Other();
  }
  bool start_object(size_t) override { return Deeper(); }
  bool start_array(size_t) override { return Deeper(); }
  bool end_object() override { return --depth_ >= 0; }
  bool end_array() override { return --depth_ >= 0; }
  bool null() override { return Other(); }
  bool boolean(bool) override { return Other(); }
  bool number_integer(number_integer_t) override { return Other(); }
  bool number_unsigned(number_unsigned_t) override { return Other(); }
  bool number_float(number_float_t, const string_t&) override { return Other(); }
  bool binary(binary_t&) override { return Other(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool Other() {
    is_next_ = false;
    return true;
  }
  bool Deeper() {
    ++depth_;
    return Other();
  }

  int depth_ = 0;
  bool is_next_ = false;
  std::string model_;
};

// Why a model does not do for a route, if it does not.
std::optional<ApiError> WrongKind(const Route& route, const ServedModel& served) {
  if (route.needs == Needs::kModel || served.generates() == (route.needs == Needs::kGenerator)) return std::nullopt;
  return ApiError{
      .code = "unsupported_parameter",
      .message = served.generates()
                     ? fmt::format("{} needs a model that makes embeddings, and '{}' generates texts; adit serve "
                                   "--task embed serves it for embeddings",
                                   route.path, served.name())
                     : fmt::format("{} needs a model that generates texts, and '{}' makes embeddings", route.path,
                                   served.name()),
      .param = "model"};
}

std::unique_ptr<Reply> Begin(Call& call, const Route& route, PoolTicket::Outcome outcome) {
  if (outcome.error) return ErrorReply(*outcome.error, *call.record);
  if (const auto error = WrongKind(route, *outcome.lease); error) return ErrorReply(*error, *call.record);
  call.model = std::move(outcome.lease);
  call.record->model = call.model->name();
  return route.endpoint(call);
}

// A request whose model is being loaded, then its answer.
class WaitingReply : public Reply {
 public:
  WaitingReply(Call call, const Route& route, TicketPtr ticket)
      : call_(std::move(call)), route_(route), ticket_(std::move(ticket)) {
    call_.service.live().Add(call_.record, call_.wake);
  }
  ~WaitingReply() override { call_.service.live().Remove(*call_.record); }

  void Advance(ReplyOutput& out, bool is_ping) override {
    if (reply_ == nullptr) Look();
    if (reply_ != nullptr) reply_->Advance(out, is_ping);
  }
  double ping_interval_s() const override { return reply_ == nullptr ? 0.0 : reply_->ping_interval_s(); }
  void Ended(bool client_gone) override {
    if (reply_ != nullptr) reply_->Ended(client_gone);
    // The ticket may hold the model.
    ticket_.reset();
  }

 private:
  void Look() {
    if (call_.record->cancel.load(std::memory_order_relaxed)) {
      ticket_.reset();
      reply_ = ErrorReply({.status = 503,
                           .type = "service_unavailable_error",
                           .code = "cancelled",
                           .message = "the request was cancelled while its model was being loaded",
                           .retry_after_s = 1},
                          *call_.record);
      return;
    }
    std::optional<PoolTicket::Outcome> outcome = ticket_->outcome();
    if (!outcome) return;
    ticket_.reset();
    // From now on the answer's own affair.
    call_.service.live().Remove(*call_.record);
    reply_ = Begin(call_, route_, *std::move(outcome));
  }

  Call call_;
  const Route& route_;
  TicketPtr ticket_;
  std::unique_ptr<Reply> reply_;
};

}  // namespace

std::variant<std::string, ApiError> ModelAsked(const HttpRequest& request) {
  ModelField field;
  if (Json::sax_parse(request.body, &field, Json::input_format_t::json, /*strict=*/true)) return field.model();
  const std::variant<Json, ApiError> body = ReadBody(request);
  if (const auto* error = std::get_if<ApiError>(&body)) return *error;
  return std::string();
}

std::unique_ptr<Reply> AnswerWithModel(Call call, const Route& route) {
  ModelPool& models = call.service.models();
  std::string name;
  // Where there is but one, its name is looked at with the other fields.
  if (!models.is_single()) {
    std::variant<std::string, ApiError> asked = ModelAsked(call.request);
    if (const auto* error = std::get_if<ApiError>(&asked)) return ErrorReply(*error, *call.record);
    name = std::get<std::string>(std::move(asked));
    if (call.record->error_shape == ErrorShape::kOllama) name = WithoutLatest(name);
  }
  TicketPtr ticket = models.Ask(name, call.wake);
  if (std::optional<PoolTicket::Outcome> outcome = ticket->outcome(); outcome) {
    ticket.reset();
    return Begin(call, route, *std::move(outcome));
  }
  return std::make_unique<WaitingReply>(std::move(call), route, std::move(ticket));
}

}  // namespace adit::server
