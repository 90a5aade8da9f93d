// Endpoints that tell of the model and the server, and those that administer.
#include <fmt/core.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <variant>

#include "base/clock.h"
#include "server/json_fields.h"
#include "server/openapi.h"
#include "server/request_body.h"
#include "server/service.h"

namespace adit::server {
namespace {

using Json = nlohmann::ordered_json;

// Of which /admin/profile tells, where a request does not say, and at most.
constexpr double kProfileSeconds = 10.0;
constexpr double kMaxProfileSeconds = 3600.0;

std::unique_ptr<Reply> Answer(const Json& body) {
  return JsonReply(body.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace));
}

// What a request gets that does not say.
Json DefaultsJson(const ServedModel& served) {
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
          {"max_tokens", api.default_max_tokens ? Json(*api.default_max_tokens) : Json()}};
}

Json CapabilitiesJson(const ServedModel& served) {
  if (!served.generates()) return {"embedding", "rerank", "score"};
  const ApiModel& api = served.api();
  Json list = {"completion"};
  if (api.chat.ok()) list.push_back("chat");
  if (api.chat.ok() && api.output.tools != ToolSyntax::kNone) list.push_back("tools");
  if (api.chat.ok() && api.output.reasoning != ReasoningSyntax::kNone) list.push_back("reasoning");
  return list;
}

Json ModelJson(const ServedModel& served, const std::string& id) {
  const engine::LoadedModel& model = served.model();
  return {{"id", id},
          {"object", "model"},
          {"created", served.created_s()},
          {"owned_by", "adit"},
          {"root", served.name()},
          {"parent", nullptr},
          {"max_model_len", served.api().max_context},
          {"status", "loaded"},
          {"capabilities", CapabilitiesJson(served)},
          {"architecture", model.spec().architecture},
          {"size_bytes", model.file().size_bytes()},
          {"defaults", DefaultsJson(served)}};
}

Json LoadingJson(const Service& service) {
  return {{"id", service.options().model_name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "adit"},
          {"root", service.options().model_name},
          {"parent", nullptr},
          {"status", "loading"},
          {"progress", service.load_progress()}};
}

}  // namespace

std::unique_ptr<Reply> ListModels(Call& call) {
  Json data = Json::array();
  if (const ServedModel* served = call.service.model(); served != nullptr) {
    data.push_back(ModelJson(*served, served->name()));
    for (const std::string& alias : served->aliases()) data.push_back(ModelJson(*served, alias));
  } else {
    data.push_back(LoadingJson(call.service));
  }
  return Answer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> ShowModel(Call& call) {
  const ServedModel* served = call.service.model();
  if (served != nullptr && served->Answers(call.argument)) return Answer(ModelJson(*served, call.argument));
  if (served == nullptr && call.argument == call.service.options().model_name) return Answer(LoadingJson(call.service));
  return ErrorReply({.status = 404,
                     .code = "model_not_found",
                     .message = fmt::format("the model '{}' is not served here", call.argument),
                     .param = "model"},
                    *call.record);
}

std::unique_ptr<Reply> HealthLive(Call&) { return Answer({{"status", "ok"}}); }

std::unique_ptr<Reply> HealthReady(Call& call) {
  if (const std::optional<ApiError> error = call.service.NotReady(); error) {
    Json body = ErrorBody(*error);
    body["status"] = error->code;
    if (call.service.model() == nullptr) body["progress"] = call.service.load_progress();
    call.record->error_code = error->code;
    return std::make_unique<WholeReply>(HttpHead{.status = 503, .headers = {{"Retry-After", "1"}}}, body.dump());
  }
  return Answer({{"status", "ok"}});
}

std::unique_ptr<Reply> ShowVersion(Call& call) {
  Json body = {{"version", call.service.options().version}};
  if (const ServedModel* served = call.service.model(); served != nullptr) {
    body["kernel_set"] = served->model().kernels().name;
    body["threads"] = served->model().num_threads();
  }
  return Answer(body);
}

std::unique_ptr<Reply> ShowLoad(Call& call) {
  const ServedModel& served = *call.service.model();
  if (!served.generates()) {
    const engine::EmbeddingStats stats = served.embedder().stats();
    return Answer({{"running", stats.num_requests},
                   {"waiting", stats.num_waiting},
                   {"requests", stats.num_requests},
                   {"draining", call.service.draining()}});
  }
  const engine::EngineStats stats = served.engine().stats();
  return Answer({{"running", stats.num_running},
                 {"waiting", stats.num_waiting},
                 {"requests", stats.num_requests},
                 {"pages", stats.pages.num_pages},
                 {"free_pages", stats.pages.num_free + stats.pages.num_cached},
                 {"queue_seconds", stats.queue_seconds},
                 {"draining", call.service.draining()}});
}

std::unique_ptr<Reply> ShowMetrics(Call& call) {
  engine::EngineStats stats;
  const MetricsNow now = call.service.FiguresNow(stats);
  const MetricsFormat format = FormatOfAccept(call.request.Header("accept"));
  return std::make_unique<WholeReply>(HttpHead{.content_type = ContentTypeOf(format)},
                                      call.service.metrics().Text(now, format));
}

std::unique_ptr<Reply> ListRequests(Call& call) {
  Json data = Json::array();
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
  return Answer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> CancelRequest(Call& call) {
  if (call.service.live().Cancel(call.argument)) return Answer({{"id", call.argument}, {"cancelled", true}});
  return ErrorReply({.status = 404, .code = "not_found", .message = fmt::format("no request '{}' runs", call.argument)},
                    *call.record);
}

std::unique_ptr<Reply> DrainServer(Call& call) {
  call.service.SetDraining(true);
  return Answer({{"draining", true}, {"requests", call.service.live().List().size()}});
}

std::unique_ptr<Reply> ResumeServer(Call& call) {
  call.service.SetDraining(false);
  return Answer({{"draining", false}});
}

std::unique_ptr<Reply> ListRoutes(Call&) {
  Json data = Json::array();
  for (const Route& route : Routes()) {
    data.push_back({{"method", route.method},
                    {"path", route.path},
                    {"scope", ScopeName(route.scope)},
                    {"body", route.body == BodyLimit::kFull},
                    {"cost", CostClassName(route.cost)},
                    {"supported", route.endpoint != &NotSupported}});
  }
  return Answer({{"object", "list"}, {"data", std::move(data)}});
}

std::unique_ptr<Reply> ShowOpenApi(Call& call) {
  return JsonReply(OpenApiText(Routes(), call.service.options().version));
}

std::unique_ptr<Reply> ShowCache(Call& call) {
  const engine::EngineStats stats = call.service.model()->engine().stats();
  const auto& cache = stats.prefix_cache;
  return Answer({{"pages", stats.pages.num_pages},
                 {"free", stats.pages.num_free},
                 {"cached", stats.pages.num_cached},
                 {"held", stats.pages.num_pages - stats.pages.num_free - stats.pages.num_cached},
                 {"queries", cache.queries},
                 {"query_tokens", cache.query_tokens},
                 {"hit_tokens", cache.hit_tokens + cache.partial_tokens},
                 {"inserted_pages", cache.inserted_blocks},
                 {"evicted_pages", cache.evicted_blocks}});
}

std::unique_ptr<Reply> FlushCache(Call& call) {
  call.service.model()->engine().ClearPrefixCache();
  return Answer({{"flushed", true}});
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
  if (const ServedModel* served = call.service.model(); served != nullptr && served->generates()) {
    call.service.trace().NoteEngine(served->engine().stats());
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
