// Endpoints that tell of the model and the server, and those that administer.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "engine/model_identity.h"
#include "server/json_fields.h"
#include "server/openapi.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Of which /admin/profile tells, where a request does not say, and at most.
constexpr double kProfileSeconds = 10.0;
constexpr double kMaxProfileSeconds = 3600.0;

// What a request gets that does not say.
OrderedJson DefaultsJson(const ServedModel& served) {
  if (!served.generates()) {
    return {{"pooling", engine::PoolingName(served.embedder().options().pooling)},
            {"normalize", served.embedder().options().normalize},
            {"dimensions", served.model().spec().hidden_dim}};
  }
  const ApiModel& api = served.api();
  const SamplingParams& defaults = api.sampling;
  return {{"temperature", defaults.temperature},
          {"top_p", defaults.top_p},
          {"top_k", defaults.top_k},
          {"min_p", defaults.min_p},
          {"typical_p", defaults.typical_p},
          {"top_n_sigma", defaults.top_n_sigma},
          {"repetition_penalty", defaults.repetition_penalty},
          {"repeat_last_n", defaults.repeat_last_n},
          {"presence_penalty", defaults.presence_penalty},
          {"frequency_penalty", defaults.frequency_penalty},
          {"xtc_probability", defaults.xtc_probability},
          {"xtc_threshold", defaults.xtc_threshold},
          {"dry_multiplier", defaults.dry_multiplier},
          {"mirostat", defaults.mirostat},
          {"mirostat_tau", defaults.mirostat_tau},
          {"mirostat_eta", defaults.mirostat_eta},
          {"max_tokens", api.default_max_tokens ? OrderedJson(*api.default_max_tokens) : OrderedJson()}};
}

OrderedJson CapabilitiesJson(const ServedModel& served) {
  if (!served.generates()) {
    OrderedJson list = {"embedding", "rerank", "score"};
    if (served.model().spec().classifier.num_labels > 0) list.push_back("classify");
    return list;
  }
  const ApiModel& api = served.api();
  OrderedJson list = {"completion"};
  if (api.chat.ok()) list.push_back("chat");
  if (api.chat.ok() && api.output.tools != ToolSyntax::kNone) list.push_back("tools");
  if (api.chat.ok() && api.output.reasoning != ReasoningSyntax::kNone) list.push_back("reasoning");
  return list;
}

// One of the names of a model that can be asked for.
OrderedJson ModelJson(const ModelNow& now, const std::string& id) {
  OrderedJson json = {{"id", id},
                      {"object", "model"},
                      {"created", now.lease == nullptr ? 0 : now.lease->created_s()},
                      {"owned_by", "adit"},
                      {"root", now.entry.name},
                      {"parent", nullptr},
                      {"status", ModelStateName(now.state)},
                      {"pinned", now.entry.pinned},
                      {"requests", now.num_leases}};
  if (now.state == ModelState::kLoading) json["progress"] = now.progress;
  if (!now.failure.empty()) json["failure"] = now.failure;
  if (now.lease == nullptr) return json;
  const ServedModel& served = *now.lease;
  json["max_model_len"] = served.api().max_context;
  json["capabilities"] = CapabilitiesJson(served);
  json["quantization"] = Traits(engine::MainType(served.model())).name;
  json["architecture"] = served.model().spec().architecture;
  json["size_bytes"] = served.model().file().size_bytes();
  json["memory_bytes"] = now.memory_bytes;
  json["defaults"] = DefaultsJson(served);
  return json;
}

std::vector<Route> OfferedRoutes(const Service& service) {
  std::vector<Route> offered;
  for (const Route& route : Routes()) {
    if (service.Offers(route)) offered.push_back(route);
  }
  return offered;
}

}  // namespace

std::unique_ptr<Reply> ListModels(Call& call) {
  OrderedJson data = OrderedJson::array();
  for (const ModelNow& now : call.service.models().List()) {
    data.push_back(ModelJson(now, now.entry.name));
    for (const std::string& alias : now.entry.aliases) data.push_back(ModelJson(now, alias));
  }
  return JsonAnswer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> ShowModel(Call& call) {
  const std::optional<ModelNow> now = call.service.models().Find(call.argument);
  if (now) return JsonAnswer(ModelJson(*now, call.argument));
  return ErrorReply(UnknownModel(call.service.models(), call.argument), *call.record);
}

std::unique_ptr<Reply> HealthLive(Call&) { return JsonAnswer({{"status", "ok"}}); }

std::unique_ptr<Reply> HealthReady(Call& call) {
  if (const std::optional<ApiError> error = call.service.NotReady(); error) {
    OrderedJson body = ErrorBody(*error);
    body["status"] = error->code;
    if (const auto progress = call.service.models().start_progress(); progress) body["progress"] = *progress;
    call.record->error_code = error->code;
    return std::make_unique<WholeReply>(HttpHead{.status = 503, .headers = {{"Retry-After", "1"}}}, body.dump());
  }
  return JsonAnswer({{"status", "ok"}});
}

std::unique_ptr<Reply> ShowVersion(Call& call) {
  OrderedJson body = {{"version", call.service.options().version}, {"revision", call.service.options().revision}};
  for (const ModelNow& now : call.service.models().List()) {
    if (now.lease == nullptr) continue;
    body["kernel_set"] = now.lease->model().kernels().name;
    body["threads"] = now.lease->model().num_threads();
    break;
  }
  return JsonAnswer(body);
}

std::unique_ptr<Reply> ShowLoad(Call& call) {
  int64_t running = 0;
  int64_t waiting = 0;
  int64_t requests = 0;
  int64_t pages = 0;
  int64_t free_pages = 0;
  double queue_s = 0.0;
  for (const ModelNow& now : call.service.models().List()) {
    if (now.lease != nullptr && now.lease->generates()) {
      const engine::EngineStats stats = now.lease->engine().stats();
      running += stats.num_running;
      waiting += stats.num_waiting;
      requests += stats.num_requests;
      pages += stats.pages.num_pages;
      free_pages += stats.pages.num_free + stats.pages.num_cached;
      queue_s = std::max(queue_s, stats.queue_seconds);
    } else if (now.lease != nullptr) {
      const engine::EmbeddingStats stats = now.lease->embedder().stats();
      running += stats.num_requests;
      waiting += stats.num_waiting;
      requests += stats.num_requests;
    }
  }
  return JsonAnswer({{"running", running},
                     {"waiting", waiting},
                     {"requests", requests},
                     {"pages", pages},
                     {"free_pages", free_pages},
                     {"queue_seconds", queue_s},
                     {"draining", call.service.draining()}});
}

std::unique_ptr<Reply> ShowMetrics(Call& call) {
  const MetricsNow now = call.service.FiguresNow();
  const MetricsFormat format = FormatOfAccept(call.request.Header("accept"));
  return std::make_unique<WholeReply>(HttpHead{.content_type = ContentTypeOf(format)},
                                      call.service.metrics().Text(now, format));
}

std::unique_ptr<Reply> ListRequests(Call& call) {
  OrderedJson data = OrderedJson::array();
  const double now_s = SteadySeconds();
  for (const auto& record : call.service.live().List()) {
    const int64_t output_tokens = record->output_tokens.load(std::memory_order_relaxed);
    data.push_back({{"id", record->id},
                    {"tenant", record->tenant},
                    {"key", record->key_id},
                    {"path", record->route},
                    {"phase", output_tokens > 0 ? "decode" : "prefill"},
                    {"prompt_tokens", record->prompt_tokens},
                    {"output_tokens", output_tokens},
                    {"age_s", now_s - record->start_s}});
  }
  return JsonAnswer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> CancelRequest(Call& call) {
  if (call.service.live().Cancel(call.argument)) return JsonAnswer({{"id", call.argument}, {"cancelled", true}});
  return ErrorReply({.status = 404, .code = "not_found", .message = fmt::format("no request '{}' runs", call.argument)},
                    *call.record);
}

std::unique_ptr<Reply> DrainServer(Call& call) {
  call.service.SetDraining(true);
  return JsonAnswer({{"draining", true}, {"requests", call.service.live().List().size()}});
}

std::unique_ptr<Reply> ResumeServer(Call& call) {
  call.service.SetDraining(false);
  return JsonAnswer({{"draining", false}});
}

std::unique_ptr<Reply> ListRoutes(Call& call) {
  OrderedJson data = OrderedJson::array();
  for (const Route& route : OfferedRoutes(call.service)) {
    data.push_back({{"method", route.method},
                    {"path", route.path},
                    {"scope", ScopeName(route.scope)},
                    {"body", route.body != BodyLimit::kNone},
                    {"cost", CostClassName(route.cost)},
                    {"supported", route.endpoint != &NotSupported}});
  }
  return JsonAnswer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> ShowOpenApi(Call& call) {
  return JsonReply(OpenApiText(OfferedRoutes(call.service), call.service.options().version));
}

std::unique_ptr<Reply> ShowProfile(Call& call) {
  double seconds = kProfileSeconds;
  if (!call.request.body.empty()) {
    const std::variant<nlohmann::json, ApiError> body = ReadBody(call.request);
    if (const auto* error = std::get_if<ApiError>(&body)) return ErrorReply(*error, *call.record);
    FieldReader fields(std::get<nlohmann::json>(body));
    seconds = fields.Real("seconds", {.low = 0, .high = kMaxProfileSeconds, .open_low = true}).value_or(seconds);
    if (fields.error()) return ErrorReply(*fields.error(), *call.record);
  }
  for (const ModelNow& now : call.service.models().List()) {
    if (now.lease == nullptr || !now.lease->generates()) continue;
    call.service.trace().NoteEngine(now.lease->name(), now.lease->engine().stats());
  }
  return JsonReply(call.service.trace().ChromeTrace(seconds, SteadySeconds()));
}

std::unique_ptr<Reply> NotSupported(Call& call) {
  return ErrorReply({.status = 501,
                     .type = "not_supported_error",
                     .code = "not_supported",
                     .message = fmt::format("{} is not supported by this build", call.record->route)},
                    *call.record);
}

}  // namespace adit::server
