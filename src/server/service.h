#ifndef ADIT_SERVER_SERVICE_H_
#define ADIT_SERVER_SERVICE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guard/rules.h"
#include "server/access_log.h"
#include "server/api_error.h"
#include "server/api_keys.h"
#include "server/batch_queue.h"
#include "server/engine_watch.h"
#include "server/file_store.h"
#include "server/guard_model.h"
#include "server/host_figures.h"
#include "server/http_server.h"
#include "server/metrics.h"
#include "server/model_pool.h"
#include "server/quotas.h"
#include "server/request_record.h"
#include "server/response_store.h"
#include "server/routes.h"
#include "server/span_exporter.h"
#include "server/tenant_limits.h"
#include "server/trace_log.h"

namespace adit::server {

struct ServiceOptions {
  std::string model_name;  // of the default model
  std::string version;
  std::string revision;         // commit; empty: not known
  bool strict_params = false;   // fields that nobody knows are errors
  bool public_metrics = false;  // /metrics and /health need no key
  size_t max_body_bytes = size_t{32} << 20;
  std::vector<std::string> cors_origins;  // pages whose scripts may ask, as "https://x.org"; "*": all
  double watchdog_s = 60.0;
  std::vector<std::string> compat;  // interfaces of others that are offered too: "ollama"
  bool with_ui = true;              // the web page
  bool vllm_names = false;          // metrics also under vLLM's names
};

// The answers of the server: who may ask what, and what is done. Any thread.
class Service : public HttpHandler {
 public:
  // `log` and `models` outlive the service.
  Service(ServiceOptions options, std::unique_ptr<ApiKeys> keys, AccessLog& log, ModelPool& models);
  ~Service() override;

  // While draining, no request that generates is taken.
  void SetDraining(bool draining) { draining_.store(draining, std::memory_order_relaxed); }
  bool draining() const { return draining_.load(std::memory_order_relaxed); }
  // Ends all that generate, with what they have.
  void CancelAll() { live_.CancelAll(); }
  // Where responses are kept for later requests. Before the first request.
  void SetResponses(std::unique_ptr<ResponseStore> responses) { responses_ = std::move(responses); }
  // Where files are kept, and the batches that are run of them. Before the first request.
  void SetBatches(std::unique_ptr<FileStore> files, std::unique_ptr<BatchQueue> batches) {
    files_ = std::move(files);
    batches_ = std::move(batches);
  }
  // Rules that requests and answers pass by. Before the first request.
  void SetGuard(std::shared_ptr<const guard::Rules> rules);
  // A model that judges them. Before the model that is served is attached.
  void SetGuardModel(std::unique_ptr<GuardModel> model) { guard_model_ = std::move(model); }
  // At which memory was read when nothing else ran. Before the model is attached.
  void SetPeakBandwidth(double bytes_per_s) { peak_bytes_per_s_ = bytes_per_s; }
  // Where requests are told as spans. Before the first request.
  void SetSpans(std::unique_ptr<SpanExporter> spans) { spans_ = std::move(spans); }
  // For the figures of connections.
  void SetServer(const HttpServer* server) { server_.store(server, std::memory_order_release); }

  std::unique_ptr<Reply> Admit(const HttpRequest& request, size_t& max_body_bytes) override;
  std::unique_ptr<Reply> Handle(HttpRequest request, std::function<void()> wake) override;
  std::unique_ptr<Reply> Refuse(int status, const std::string& message, const std::string& peer) override;

  // For endpoints.
  const ServiceOptions& options() const { return options_; }
  ModelPool& models() { return models_; }
  // Whether a route is there, which depends on the options.
  bool Offers(const Route& route) const;
  Metrics& metrics() { return metrics_; }
  LiveRequests& live() { return live_; }
  // Null where responses are not kept.
  ResponseStore* responses() { return responses_.get(); }
  // Null where there are none.
  const std::shared_ptr<const guard::Rules>& guard() const { return guard_; }
  // The same rules, each of which only flags, on both sides.
  const guard::Rules& judges() const { return judges_; }
  // Null where there is none.
  const GuardModel* guard_model() const { return guard_model_.get(); }
  TraceLog& trace() { return trace_; }
  const ApiKeys& keys() const { return *keys_; }
  TenantLimits& tenants() { return tenants_; }
  // Tokens of a model's cache that requests of a tenant may hold, whose key has that quota; 0: no limit.
  int64_t TenantTokens(const std::string& tenant, const QuotaLimits& quota, const ServedModel& model) const;
  // Both null where files are not kept.
  FileStore* files() { return files_.get(); }
  BatchQueue* batches() { return batches_.get(); }
  MetricsNow FiguresNow() const;
  // Why requests cannot be answered now; nothing when they can.
  std::optional<ApiError> NotReady();

 private:
  // Who asks, and what for.
  struct Caller {
    std::shared_ptr<RequestRecord> record;
    RouteMatch match;
    KeyHolder holder;
    std::optional<ApiError> error;
  };
  Caller Identify(const HttpRequest& request);
  std::optional<ApiError> Authorize(const HttpRequest& request, const Route& route, Caller& caller);
  // Counts a request against its key's quotas; the error when there is nothing left of them.
  std::optional<ApiError> Meter(const Route& route, const KeyHolder& holder, RequestRecord& record);
  // The answer to a browser that asks whether a script may ask; null for anything else.
  std::unique_ptr<Reply> Preflight(const HttpRequest& request) const;
  // The origin of the script that asks, if it may; else empty.
  std::string CorsOrigin(const HttpRequest& request) const;
  std::unique_ptr<Reply> Logged(std::shared_ptr<RequestRecord> record, std::unique_ptr<Reply> reply);

  const ServiceOptions options_;
  const std::unique_ptr<ApiKeys> keys_;
  AccessLog& log_;
  ModelPool& models_;
  Metrics metrics_;
  LiveRequests live_;
  Quotas quotas_;
  TenantLimits tenants_;
  std::unique_ptr<ResponseStore> responses_;
  std::shared_ptr<const guard::Rules> guard_;
  guard::Rules judges_;
  std::unique_ptr<GuardModel> guard_model_;
  double peak_bytes_per_s_ = 0.0;
  TraceLog trace_;
  std::unique_ptr<SpanExporter> spans_;  // null: nobody is told
  mutable EnergyMeter energy_;
  std::atomic<bool> draining_ = false;
  std::atomic<const HttpServer*> server_ = nullptr;
  EngineWatch watch_;

  std::unique_ptr<FileStore> files_;
  std::unique_ptr<BatchQueue> batches_;  // its thread uses all of the above: it goes first
};

// An error as a whole reply.
std::unique_ptr<Reply> ErrorReply(const ApiError& error, RequestRecord& record);
// A body as one.
std::unique_ptr<Reply> JsonReply(std::string body);
std::unique_ptr<Reply> JsonAnswer(const nlohmann::ordered_json& body);

}  // namespace adit::server

#endif  // ADIT_SERVER_SERVICE_H_
