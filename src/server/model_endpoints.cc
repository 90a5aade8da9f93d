// Endpoints that administer which models there are and which are in memory.
#include <fmt/core.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "server/answer_writer.h"
#include "server/json_fields.h"
#include "server/model_pool.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr size_t kMaxModelNameBytes = 512;
// How often a stream of events looks whether the server ends, and after how many looks it says that it is there.
constexpr double kLookS = 1.0;
constexpr int kLooksPerPing = 15;

std::unique_ptr<Reply> ErrorOf(Call& call, const Status& status) {
  return ErrorReply(ErrorOfPool(status), *call.record);
}

// What a request says of one model.
struct ModelWish {
  std::string model;
  std::string source;  // of a swap
  bool pinned = true;
  bool wait = true;
};

std::variant<ModelWish, ApiError> ReadWish(Call& call, bool with_source, bool waits) {
  const std::variant<nlohmann::json, ApiError> body = ReadBody(call.request);
  if (const auto* error = std::get_if<ApiError>(&body)) return *error;
  FieldReader fields(std::get<nlohmann::json>(body));
  ModelWish wish;
  const auto name = [&](const char* key) {
    const std::optional<std::string> text = fields.Text(key, 1, kMaxModelNameBytes);
    if (!text) fields.Fail("missing_required_parameter", key, fmt::format("'{}' is missing", key));
    return text.value_or("");
  };
  wish.model = name("model");
  if (with_source) wish.source = name("source");
  wish.pinned = fields.Flag("pinned").value_or(true);
  wish.wait = fields.Flag("wait").value_or(waits);
  if (fields.error()) return *fields.error();
  return wish;
}

// Says what has become of a model once a ticket of the pool's is settled.
class TicketReply : public Reply {
 public:
  TicketReply(Call& call, std::string model, std::string done, TicketPtr ticket)
      : record_(call.record), model_(std::move(model)), done_(std::move(done)), ticket_(std::move(ticket)) {}

  void Advance(ReplyOutput& out, bool) override {
    const std::optional<PoolTicket::Outcome> outcome = ticket_->outcome();
    if (!outcome) return;
    if (outcome->error) return ErrorReply(*outcome->error, *record_)->Advance(out, false);
    out.SetHead({});
    out.body = JsonText(OrderedJson{{"model", model_}, {"status", done_}});
    out.done = true;
  }
  void Ended(bool) override { ticket_.reset(); }

 private:
  const std::shared_ptr<RequestRecord> record_;
  const std::string model_;
  const std::string done_;
  TicketPtr ticket_;
};

// The reply that waits for a ticket, or says that the work has begun.
std::unique_ptr<Reply> Follow(Call& call, const ModelWish& wish, const char* doing, const char* done,
                              TicketPtr ticket) {
  // What is known at once is told at once.
  const bool is_over = ticket->outcome().has_value();
  if (wish.wait || is_over) return std::make_unique<TicketReply>(call, wish.model, done, std::move(ticket));
  return std::make_unique<WholeReply>(HttpHead{.status = 202},
                                      JsonText(OrderedJson{{"model", wish.model}, {"status", doing}}));
}

OrderedJson EventJson(const PoolEvent& event) {
  OrderedJson json = {{"model", event.model}, {"event", event.what}};
  if (event.what == "loading" || event.what == "fetching") json["progress"] = event.progress;
  if (event.bytes.total_bytes > 0) {
    json["done_bytes"] = event.bytes.done_bytes;
    json["total_bytes"] = event.bytes.total_bytes;
  }
  if (!event.error.empty()) json["error"] = event.error;
  return json;
}

// Events of the pool as they come, until the client goes or the server ends.
class EventsReply : public Reply {
 public:
  EventsReply(Call& call, int64_t after)
      : service_(call.service), told_(after), subscription_(call.service.models().Subscribe(call.wake)) {}

  void Advance(ReplyOutput& out, bool is_ping) override {
    if (!headed_) {
      headed_ = true;
      HttpHead head{.content_type = "text/event-stream; charset=utf-8"};
      head.headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}};
      out.SetHead(std::move(head));
      out.body = ": events\n\n";
    }
    for (const PoolEvent& event : service_.models().EventsAfter(told_)) {
      told_ = event.number;
      out.body += fmt::format("id: {}\n", event.number);
      WriteNamedEvent("model", EventJson(event), out.body);
    }
    if (is_ping && ++num_looks_ % kLooksPerPing == 0) out.body += ": ping\n\n";
    out.done = service_.draining();
  }
  double ping_interval_s() const override { return kLookS; }
  void Ended(bool) override { subscription_.reset(); }

 private:
  Service& service_;
  int64_t told_;
  std::shared_ptr<void> subscription_;
  bool headed_ = false;
  int num_looks_ = 0;
};

}  // namespace

std::unique_ptr<Reply> LoadModel(Call& call) {
  const auto wish = ReadWish(call, /*with_source=*/false, /*waits=*/true);
  if (const auto* error = std::get_if<ApiError>(&wish)) return ErrorReply(*error, *call.record);
  const ModelWish& wanted = std::get<ModelWish>(wish);
  return Follow(call, wanted, "loading", "loaded", call.service.models().Load(wanted.model, call.wake));
}

std::unique_ptr<Reply> UnloadModel(Call& call) {
  const auto wish = ReadWish(call, /*with_source=*/false, /*waits=*/true);
  if (const auto* error = std::get_if<ApiError>(&wish)) return ErrorReply(*error, *call.record);
  const ModelWish& wanted = std::get<ModelWish>(wish);
  return Follow(call, wanted, "unloading", "unloaded", call.service.models().Unload(wanted.model, call.wake));
}

std::unique_ptr<Reply> SwapModel(Call& call) {
  const auto wish = ReadWish(call, /*with_source=*/true, /*waits=*/true);
  if (const auto* error = std::get_if<ApiError>(&wish)) return ErrorReply(*error, *call.record);
  const ModelWish& wanted = std::get<ModelWish>(wish);
  return Follow(call, wanted, "swapping", "swapped",
                call.service.models().Swap(wanted.model, wanted.source, call.wake));
}

std::unique_ptr<Reply> PullModel(Call& call) {
  const auto wish = ReadWish(call, /*with_source=*/false, /*waits=*/false);
  if (const auto* error = std::get_if<ApiError>(&wish)) return ErrorReply(*error, *call.record);
  const ModelWish& wanted = std::get<ModelWish>(wish);
  return Follow(call, wanted, "fetching", "fetched", call.service.models().Fetch(wanted.model, call.wake));
}

std::unique_ptr<Reply> PinModel(Call& call) {
  const auto wish = ReadWish(call, /*with_source=*/false, /*waits=*/true);
  if (const auto* error = std::get_if<ApiError>(&wish)) return ErrorReply(*error, *call.record);
  const ModelWish& wanted = std::get<ModelWish>(wish);
  const Status status = call.service.models().Pin(wanted.model, wanted.pinned);
  if (!status.ok()) return ErrorOf(call, status);
  return JsonReply(JsonText({{"model", wanted.model}, {"pinned", wanted.pinned}}));
}

std::unique_ptr<Reply> RemoveModel(Call& call) {
  TicketPtr ticket = call.service.models().Remove(call.argument, call.wake);
  return std::make_unique<TicketReply>(call, call.argument, "removed", std::move(ticket));
}

std::unique_ptr<Reply> ModelEvents(Call& call) {
  // Behind which to begin: as browsers say it when they come again, else with what comes now.
  const std::string last(call.request.Header("last-event-id"));
  char* end = nullptr;
  const long long after = std::strtoll(last.c_str(), &end, 10);
  const bool is_number = !last.empty() && *end == '\0' && after >= 0;
  return std::make_unique<EventsReply>(call, is_number ? after : call.service.models().last_event());
}

std::unique_ptr<Reply> PlanModel(Call& call) {
  const auto wish = ReadWish(call, /*with_source=*/false, /*waits=*/true);
  if (const auto* error = std::get_if<ApiError>(&wish)) return ErrorReply(*error, *call.record);
  const std::string& model = std::get<ModelWish>(wish).model;
  const Result<ModelPool::Plan> plan = call.service.models().PlanLoad(model);
  if (!plan.ok()) return ErrorOf(call, plan.status());
  return JsonReply(JsonText({{"model", model},
                             {"fits", plan->fits},
                             {"weight_bytes", plan->weight_bytes},
                             {"needed_bytes", plan->needed_bytes},
                             {"used_bytes", plan->used_bytes},
                             {"budget_bytes", plan->budget_bytes},
                             {"unloads", plan->unloads}}));
}

}  // namespace adit::server
