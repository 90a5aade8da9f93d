#include "server/service.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/clock.h"
#include "engine/machine.h"
#include "server/answer_writer.h"
#include "server/logged_reply.h"
#include "server/messages_writer.h"
#include "server/model_choice.h"
#include "server/ollama_writer.h"

namespace adit::server {
namespace {

constexpr size_t kSmallBodyBytes = 64 << 10;
constexpr size_t kMaxRequestIdBytes = 128;
// Below it errors are told as Anthropic's clients want them.
constexpr std::string_view kMessagesPath = "/v1/messages";
// The same for Ollama's.
constexpr std::string_view kOllamaPath = "/api/";

bool IsRequestId(std::string_view id) {
  return !id.empty() && id.size() <= kMaxRequestIdBytes && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == ':' || c == '-';
  });
}

std::string_view KeyOf(const HttpRequest& request) {
  const std::string_view authorization = request.Header("authorization");
  constexpr std::string_view kBearer = "bearer ";
  if (authorization.size() > kBearer.size() &&
      std::equal(kBearer.begin(), kBearer.end(), authorization.begin(),
                 [](char wanted, char got) { return wanted == (got >= 'A' && got <= 'Z' ? got - 'A' + 'a' : got); })) {
    return authorization.substr(kBearer.size());
  }
  return request.Header("x-api-key");
}

std::string_view CodeOfRefusal(int status) {
  if (status == 408) return "request_body_timeout";
  if (status == 413) return "request_too_large";
  if (status == 431) return "request_header_too_large";
  return "invalid_request";
}

std::string ErrorBodyText(const ApiError& error, const RequestRecord& record) {
  switch (record.error_shape) {
    case ErrorShape::kAnthropic:
      return JsonText(MessagesError(error, record.id));
    case ErrorShape::kOllama:
      return OllamaErrorText(error);
    case ErrorShape::kOpenAi:
      break;
  }
  return ErrorText(error);
}

// What a model that is loaded takes and does.
void AddFigures(const ServedModel& served, ModelFigures& figures) {
  const engine::LoadedModel& model = served.model();
  figures.kernels = model.kernels().name;
  figures.load_phases = model.load_phases();
  figures.pools = {{"weights", static_cast<int64_t>(model.weights().packed.size_bytes())}};
  if (!served.generates()) {
    figures.embeddings = served.embedder().stats();
    return;
  }
  figures.engine = served.engine().stats();
  figures.grammars = model.grammars().stats();
  figures.pools.emplace_back("grammar", static_cast<int64_t>(figures.grammars->cache_bytes));
  const engine::ModelRunner& runner = served.engine().runner();
  figures.kv_tokens = runner.kv_capacity_tokens();
  figures.block_size = runner.page_groups().block_size;
  const auto kv_bytes = static_cast<int64_t>(runner.kv_bytes_per_token()) * figures.kv_tokens;
  figures.kv_page_bytes = kv_bytes / std::max<int64_t>(1, figures.engine->pages.num_pages);
  figures.pools.emplace_back("kv", kv_bytes);
  figures.pools.emplace_back("scratch", static_cast<int64_t>(runner.scratch_bytes()));
}

}  // namespace

std::unique_ptr<Reply> ErrorReply(const ApiError& error, RequestRecord& record) {
  record.error_code = error.code;
  HttpHead head{.status = error.status};
  if (error.retry_after_s >= 0) {
    head.headers.emplace_back("Retry-After", fmt::format("{:.0f}", std::max(1.0, error.retry_after_s)));
  }
  if (error.status == 401) head.headers.emplace_back("WWW-Authenticate", "Bearer");
  return std::make_unique<WholeReply>(std::move(head), ErrorBodyText(error, record));
}

std::unique_ptr<Reply> JsonReply(std::string body) { return std::make_unique<WholeReply>(HttpHead(), std::move(body)); }

Service::Service(ServiceOptions options, std::unique_ptr<ApiKeys> keys, AccessLog& log, ModelPool& models)
    : options_(std::move(options)),
      keys_(std::move(keys)),
      log_(log),
      models_(models),
      metrics_(options_.model_name, options_.version, options_.vllm_names) {}

Service::~Service() = default;

void Service::SetGuard(std::shared_ptr<const guard::Rules> rules) {
  judges_ = guard::AllFlagged(*rules);
  guard_ = std::move(rules);
}

std::unique_ptr<Reply> JsonAnswer(const nlohmann::ordered_json& body) {
  return JsonReply(body.dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::ordered_json::error_handler_t::replace));
}

std::unique_ptr<Reply> Service::Logged(std::shared_ptr<RequestRecord> record, std::unique_ptr<Reply> reply) {
  return MakeLoggedReply(std::move(record), std::move(reply),
                         {.log = log_, .metrics = metrics_, .quotas = quotas_, .trace = trace_, .spans = spans_.get()});
}

Service::Caller Service::Identify(const HttpRequest& request) {
  Caller caller{.record = std::make_shared<RequestRecord>(), .match = FindRoute(request.method, request.path)};
  RequestRecord& record = *caller.record;
  const std::string_view id = request.Header("x-request-id");
  record.id = IsRequestId(id) ? std::string(id) : NewRequestId();
  record.method = request.method;
  record.path = request.path;
  record.peer = request.peer;
  if (request.path.starts_with(kMessagesPath)) record.error_shape = ErrorShape::kAnthropic;
  if (request.path.starts_with(kOllamaPath)) record.error_shape = ErrorShape::kOllama;
  record.trace = ParseTraceParent(request.Header("traceparent"));
  record.start_s = SteadySeconds();
  record.cors_origin = CorsOrigin(request);
  // What is not offered is not there.
  if (caller.match.route != nullptr && !Offers(*caller.match.route)) caller.match = {};
  if (caller.match.route == nullptr) {
    // Whoever shows no key is not told what there is.
    Route unknown{.scope = keys_->required() ? Scope::kRead : Scope::kPublic};
    caller.error = Authorize(request, unknown, caller);
    if (caller.error && caller.error->status == 403) caller.error.reset();
    if (caller.error) return caller;
    caller.error =
        caller.match.path_known
            ? ApiError{.status = 405,
                       .code = "method_not_allowed",
                       .message = fmt::format("{} takes {}", request.path, caller.match.allowed)}
            : ApiError{.status = 404, .code = "not_found", .message = fmt::format("there is no {}", request.path)};
    return caller;
  }
  record.route = caller.match.route->path;
  caller.error = Authorize(request, *caller.match.route, caller);
  return caller;
}

bool Service::Offers(const Route& route) const {
  return route.compat.empty() ||
         std::find(options_.compat.begin(), options_.compat.end(), route.compat) != options_.compat.end();
}

std::optional<ApiError> Service::Authorize(const HttpRequest& request, const Route& route, Caller& caller) {
  if (!keys_->required()) {
    caller.holder.may_administer = true;
    return std::nullopt;
  }
  const std::string_view key = KeyOf(request);
  const bool is_open = route.scope == Scope::kPublic ||
                       (options_.public_metrics && (route.endpoint == &ShowMetrics || route.endpoint == &HealthReady));
  if (key.empty()) {
    if (is_open) return std::nullopt;
    return ApiError{.status = 401,
                    .type = "authentication_error",
                    .code = "missing_api_key",
                    .message = "an API key is needed: Authorization: Bearer KEY"};
  }
  std::optional<KeyHolder> holder = keys_->Find(key);
  if (!holder) {
    if (is_open) return std::nullopt;
    return ApiError{.status = 401,
                    .type = "authentication_error",
                    .code = "invalid_api_key",
                    .message = "the API key is not known here"};
  }
  caller.holder = *std::move(holder);
  const std::string_view other = request.Header("x-tenant");
  if (!other.empty() && caller.holder.may_delegate) caller.holder.tenant = std::string(other.substr(0, 128));
  caller.record->key_id = caller.holder.id;
  caller.record->tenant = caller.holder.tenant;
  if (is_open || caller.holder.Has(route.scope)) return std::nullopt;
  return ApiError{.status = 403,
                  .type = "permission_error",
                  .code = "insufficient_scope",
                  .message = fmt::format("the API key lacks the scope '{}'", ScopeName(route.scope))};
}

std::unique_ptr<Reply> Service::Admit(const HttpRequest& request, size_t& max_body_bytes) {
  if (std::unique_ptr<Reply> preflight = Preflight(request); preflight != nullptr) return preflight;
  Caller caller = Identify(request);
  if (caller.error) {
    std::unique_ptr<Reply> reply = ErrorReply(*caller.error, *caller.record);
    return Logged(std::move(caller.record), std::move(reply));
  }
  max_body_bytes = caller.match.route->body == BodyLimit::kFull ? options_.max_body_bytes : kSmallBodyBytes;
  // Known before it comes, it can be told of as the route's clients want it.
  const std::string length(request.Header("content-length"));
  if (std::strtoull(length.c_str(), nullptr, 10) <= max_body_bytes) return nullptr;
  std::unique_ptr<Reply> reply =
      ErrorReply({.status = 413,
                  .code = std::string(CodeOfRefusal(413)),
                  .message = fmt::format("the body is larger than {} bytes", max_body_bytes)},
                 *caller.record);
  return Logged(std::move(caller.record), std::move(reply));
}

std::unique_ptr<Reply> Service::Handle(HttpRequest request, std::function<void()> wake) {
  Caller caller = Identify(request);
  const std::shared_ptr<RequestRecord> record = caller.record;
  if (caller.error) return Logged(record, ErrorReply(*caller.error, *record));
  const Route& route = *caller.match.route;
  const bool is_work = route.cost == CostClass::kGenerate || route.cost == CostClass::kEmbed;
  if (const auto error = is_work && draining() ? NotReady() : std::nullopt; error) {
    return Logged(record, ErrorReply(*error, *record));
  }
  if (const auto error = Meter(route, caller.holder, *record); error) {
    return Logged(record, ErrorReply(*error, *record));
  }
  // Clients of Ollama need not say that they send JSON.
  if (!route.compat.empty()) {
    std::erase_if(request.headers, [](const auto& header) { return header.first == "content-type"; });
  }
  Call call{.service = *this,
            .request = std::move(request),
            .argument = std::move(caller.match.argument),
            .holder = std::move(caller.holder),
            .record = record,
            .wake = std::move(wake),
            .model = nullptr};
  try {
    return Logged(record,
                  route.needs == Needs::kNothing ? route.endpoint(call) : AnswerWithModel(std::move(call), route));
  } catch (const std::exception& failure) {
    return Logged(record, ErrorReply(ErrorOfException(failure), *record));
  }
}

std::optional<ApiError> Service::Meter(const Route& route, const KeyHolder& holder, RequestRecord& record) {
  const bool costs = route.cost == CostClass::kGenerate || route.cost == CostClass::kEmbed;
  const QuotaLimits limits = tenants_.Find(holder.tenant).value_or(holder.quota);
  if (!costs || !limits.any()) return std::nullopt;
  std::optional<ApiError> error = quotas_.Enter(holder.id, limits, SteadySeconds());
  record.metered = !error;
  return error;
}

int64_t Service::TenantTokens(const std::string& tenant, const QuotaLimits& quota, const ServedModel& model) const {
  const int64_t bytes = tenants_.Find(tenant).value_or(quota).max_kv_bytes;
  if (bytes == 0) return 0;
  return std::max<int64_t>(1, bytes / static_cast<int64_t>(model.engine().runner().kv_bytes_per_token()));
}

std::string Service::CorsOrigin(const HttpRequest& request) const {
  const std::string_view origin = request.Header("origin");
  if (origin.empty()) return "";
  for (const std::string& allowed : options_.cors_origins) {
    if (allowed == "*" || allowed == origin) return std::string(origin);
  }
  return "";
}

std::unique_ptr<Reply> Service::Preflight(const HttpRequest& request) const {
  if (request.method != "OPTIONS" || request.Header("access-control-request-method").empty()) return nullptr;
  const std::string origin = CorsOrigin(request);
  if (origin.empty()) return nullptr;
  // It carries no key, and tells nothing of what there is.
  HttpHead head{.status = 204, .content_type = ""};
  head.headers = {{"Access-Control-Allow-Origin", origin},
                  {"Access-Control-Allow-Methods", "GET, POST, DELETE"},
                  {"Access-Control-Allow-Headers",
                   "authorization, content-type, x-api-key, anthropic-version, anthropic-beta, x-request-id, "
                   "x-tenant, x-priority, x-deadline-ms"},
                  {"Access-Control-Max-Age", "600"},
                  {"Vary", "Origin"}};
  return std::make_unique<WholeReply>(std::move(head), "");
}

std::unique_ptr<Reply> Service::Refuse(int status, const std::string& message, const std::string& peer) {
  auto record = std::make_shared<RequestRecord>();
  record->id = NewRequestId();
  record->method.assign(1, '-');
  record->path.assign(1, '-');
  record->peer = peer;
  record->start_s = SteadySeconds();
  ApiError error{.status = status, .code = std::string(CodeOfRefusal(status)), .message = message};
  if (status == 408) error.type = std::string("timeout_error");
  return Logged(record, ErrorReply(error, *record));
}

std::optional<ApiError> Service::NotReady() {
  ApiError error{.status = 503, .type = "service_unavailable_error", .retry_after_s = 1};
  if (const std::optional<double> progress = models_.start_progress(); progress) {
    error.code = "model_loading";
    error.message = fmt::format("the model is being loaded: {:.0f} %", *progress * 100);
    return error;
  }
  if (draining()) {
    error.code = "draining";
    error.message = "the server takes no more requests";
    return error;
  }
  const double stuck_s = watch_.StuckSeconds(models_.List(), SteadySeconds());
  if (stuck_s <= options_.watchdog_s) return std::nullopt;
  error.code = "engine_unhealthy";
  error.message = fmt::format("the engine has not stepped for {:.0f} s", stuck_s);
  return error;
}

MetricsNow Service::FiguresNow() const {
  MetricsNow now{.resident_bytes = engine::ResidentBytes(),
                 .ready = !models_.start_progress().has_value() && !draining(),
                 .host = ReadHostFigures(),
                 .energies = energy_.Read(),
                 .peak_bytes_per_s = peak_bytes_per_s_};
  if (const HttpServer* server = server_.load(std::memory_order_acquire); server != nullptr) {
    now.http = server->counters();
  }
  for (const ModelNow& model : models_.List()) {
    ModelFigures figures{.model = model.entry.name, .state = std::string(ModelStateName(model.state))};
    if (model.lease != nullptr) AddFigures(*model.lease, figures);
    now.models.push_back(std::move(figures));
  }
  return now;
}

}  // namespace adit::server
