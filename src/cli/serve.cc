// adit serve.
#include <fmt/core.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adit/version.h"
#include "base/cpus.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/printable.h"
#include "cli/revision.h"
#include "cli/serve_models.h"
#include "cli/signals.h"
#include "engine/engine.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "guard/rules_file.h"
#include "hub/http_client.h"
#include "hub/url.h"
#include "plan/read_rate.h"
#include "server/access_log.h"
#include "server/api_keys.h"
#include "server/batch_endpoints.h"
#include "server/default_sampling.h"
#include "server/file_store.h"
#include "server/guard_model.h"
#include "server/http_server.h"
#include "server/response_store.h"
#include "server/service.h"
#include "server/span_exporter.h"

namespace adit::cli {
namespace {

using server::AccessLog;
using server::ApiKeys;
using server::HttpServer;
using server::Service;

// What answers get to leave by once they have been cancelled.
constexpr double kLastWordsS = 2.0;
constexpr size_t kMaxTemplateBytes = size_t{1} << 20;
// What a guard model gets.
constexpr int64_t kGuardContext = 8192;
constexpr int64_t kGuardSequences = 8;
// What is read to see how fast memory is.
constexpr size_t kBandwidthBytes = size_t{128} << 20;
constexpr size_t kMaxCollectorAnswer = size_t{64} << 10;

Result<std::string> ReadTemplate(const char* flag, const std::string& path) {
  if (path.empty()) return std::string();
  ADIT_ASSIGN_OR_RETURN(std::string text, ReadFileOrStdin(path));
  if (text.empty()) return InvalidArgument("{}: '{}' is empty", flag, OneLine(path));
  if (text.size() > kMaxTemplateBytes) {
    return InvalidArgument("{}: '{}' has {} bytes; it has at most {}", flag, OneLine(path), text.size(),
                           kMaxTemplateBytes);
  }
  return text;
}

Status CheckOptions(const ServeOptions& options) {
  if (!(options.drain_timeout_s >= 0))
    return InvalidArgument("--drain-timeout: {} is below 0", options.drain_timeout_s);
  SamplingParams ignored;
  const Status sampling = server::ApplyDefaultSampling(options.default_sampling, ignored);
  if (!sampling.ok()) return InvalidArgument("--default-sampling: {}", sampling.message());
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    return InvalidArgument("--tls-cert and --tls-key belong together");
  }
  if (!options.tls_client_authority.empty() && options.tls_certificate.empty()) {
    return InvalidArgument("--tls-client-ca: needs --tls-cert");
  }
  if (!(options.response_ttl_h > 0)) {
    return InvalidArgument("--response-ttl-h: {} is not above 0", options.response_ttl_h);
  }
  if (!(options.file_ttl_h > 0)) return InvalidArgument("--file-ttl-h: {} is not above 0", options.file_ttl_h);
  if (!(options.watchdog_s > 0)) return InvalidArgument("--watchdog-s: {} is not above 0", options.watchdog_s);
  const auto budget = engine::ParseMemoryBudget(options.memory, engine::MachineMemoryBytes());
  if (!budget.ok()) return Status(budget.status().code(), "--memory: " + budget.status().message());
  return Status();
}

// The engine's tenants: those of the keys, behind the one that everybody else belongs to.
std::vector<sched::Tenant> TenantsOf(const ApiKeys& keys) {
  std::vector<sched::Tenant> tenants = {{.name = "default", .weight = 1.0}};
  for (const server::KeyHolder& holder : keys.Tenants()) {
    if (holder.tenant == "default") {
      tenants.front().weight = holder.weight;
    } else {
      tenants.push_back({.name = holder.tenant, .weight = holder.weight});
    }
  }
  return tenants;
}

// Loads the model that judges what others say, with an engine of its own.
Status StartGuardModel(const ServeOptions& options, Service& service) {
  if (options.guard_model.empty()) return Status();
  server::GuardModelOptions guard{.name = std::filesystem::path(options.guard_model).stem().string(),
                                  .unsafe = options.guard_unsafe,
                                  .safe = options.guard_safe,
                                  .on_input = options.guard_side == "input" || options.guard_side == "both",
                                  .on_output = options.guard_side == "output" || options.guard_side == "both"};
  ADIT_ASSIGN_OR_RETURN(guard.chat_template, ReadTemplate("--guard-template", options.guard_template_file));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::LoadedModel> model, LoadModel(options.guard_model, options.engine));
  engine::EngineOptions wanted;
  wanted.scheduler.max_num_seqs = kGuardSequences;
  wanted.scheduler.max_context = std::min(kGuardContext, model->spec().context_length);
  ADIT_ASSIGN_OR_RETURN(wanted.kv_types, ChosenKvTypes(options.engine));
  wanted.kv_tokens = wanted.scheduler.max_context * 2;
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine, engine::Engine::Create(*model, wanted));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<server::GuardModel> ready,
                        server::GuardModel::Create(std::move(model), std::move(engine), std::move(guard)));
  service.SetGuardModel(std::move(ready));
  return Status();
}

// How fast memory is read, where nothing else of ours runs: what steps are measured by.
void MeasureBandwidth(const ServeOptions& options, Service& service) {
  const Result<int> threads = ChosenThreads(options.engine);
  if (!threads.ok()) return;
  const Result<std::unique_ptr<WorkerTeam>> team = WorkerTeam::Create(*threads > 0 ? *threads : NumAvailableCpus());
  if (!team.ok()) return;
  // Without it there is one figure less.
  if (const Result<double> rate = plan::MeasureReadRate(**team, kBandwidthBytes); rate.ok())
    service.SetPeakBandwidth(*rate);
}

// Where the collector takes traces.
Result<hub::Url> TracesUrl(const std::string& endpoint) {
  constexpr std::string_view kTraces = "/v1/traces";
  Result<hub::Url> url = hub::ParseUrl(endpoint);
  if (!url.ok()) return InvalidArgument("--otlp-endpoint: {}", url.status().message());
  std::string& target = url->target;
  if (target.ends_with(kTraces)) return url;
  if (target.ends_with('/')) target.pop_back();
  target += kTraces;
  return url;
}

// Tells a collector of requests, where there is one.
Status StartSpans(const ServeOptions& options, AccessLog& log, Service& service) {
  if (options.otlp_endpoint.empty()) return Status();
  ADIT_ASSIGN_OR_RETURN(hub::Url url, TracesUrl(options.otlp_endpoint));
  const auto send = [url = std::move(url)](const std::string& json) -> Status {
    const hub::HttpLimits limits{.connect_timeout_s = 3.0, .silence_timeout_s = 5.0, .max_redirects = 0};
    const Result<hub::HttpAnswer> answer =
        hub::ExchangeText({.method = "POST", .url = url, .token = {}, .body = json}, limits, kMaxCollectorAnswer);
    if (!answer.ok()) return answer.status();
    if (answer->status / 100 != 2) return Io("{} answers with status {}", url.ToString(), answer->status);
    return Status();
  };
  service.SetSpans(std::make_unique<server::SpanExporter>(server::SpanExporterOptions{.version = kVersion}, send,
                                                          [&log](const std::string& text) { log.Note(text); }));
  return Status();
}

// Files and batches, where they are kept.
Status OpenFiles(const ServeOptions& options, Service& service) {
  if (options.file_store_mb == 0) return Status();
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<server::FileStore> files,
                        server::FileStore::Open({.folder = options.file_dir,
                                                 .max_bytes = static_cast<size_t>(options.file_store_mb) << 20,
                                                 .ttl_s = options.file_ttl_h * 3600}));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<server::BatchQueue> batches,
                        server::BatchQueue::Open(*files, server::MakeBatchHost(service)));
  service.SetBatches(std::move(files), std::move(batches));
  return Status();
}

// Whole or not at all: who waits for the file may read it as soon as it is there.
Status WritePortFile(const std::string& path, uint16_t port) {
  if (path.empty()) return Status();
  const std::string fresh = path + ".new";
  {
    std::ofstream file(fresh, std::ios::trunc);
    file << port << '\n';
    file.close();
    if (!file) return Io("--port-file: '{}': {}", OneLine(fresh), std::strerror(errno));
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0)
    return Io("--port-file: '{}': {}", OneLine(path), std::strerror(errno));
  return Status();
}

std::string AddressOf(const ServeOptions& options, const HttpServer& http) {
  if (!options.unix_path.empty()) return options.unix_path;
  const bool v6 = options.host.find(':') != std::string::npos;
  const char* scheme = options.tls_certificate.empty() ? "http" : "https";
  return fmt::format("{}://{}:{}", scheme, v6 ? "[" + options.host + "]" : options.host, http.port());
}

// Turns SIGHUP into something that can be read, for all threads that are started from now on. Where there is nothing to
// read again, it ends the program as it always has.
class HangupScope {
 public:
  explicit HangupScope(bool is_wanted) {
    if (!is_wanted) return;
    sigset_t hangup;
    sigemptyset(&hangup);
    sigaddset(&hangup, SIGHUP);
    (void)::pthread_sigmask(SIG_BLOCK, &hangup, &before_);
    descriptor_ = ::signalfd(-1, &hangup, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~HangupScope() {
    if (descriptor_ < 0) return;
    ::close(descriptor_);
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  HangupScope(const HangupScope&) = delete;
  HangupScope& operator=(const HangupScope&) = delete;

  int descriptor() const { return descriptor_; }  // -1: none
  // Whether there was one since the last call.
  bool Take() const {
    signalfd_siginfo info;
    return descriptor_ >= 0 && ::read(descriptor_, &info, sizeof(info)) > 0;
  }

 private:
  int descriptor_ = -1;
  sigset_t before_ = {};
};

void WaitForSignal(const HangupScope& hangup, HttpServer& http, AccessLog& log) {
  pollfd signals[] = {{.fd = InterruptDescriptor(), .events = POLLIN, .revents = 0},
                      {.fd = hangup.descriptor(), .events = POLLIN, .revents = 0}};
  while (PendingInterrupt() == 0) {
    (void)::poll(signals, 2, -1);
    if (!hangup.Take()) continue;
    const Status status = http.ReloadTls();
    log.Note(status.ok() ? "SIGHUP: certificates are read again" : "SIGHUP: " + status.message());
  }
}

// Lets what runs end, for as long as it may take.
void Drain(const ServeOptions& options, Service& service, HttpServer& http, AccessLog& log) {
  log.Note(
      fmt::format("stopping: running requests get {:.0f} s; another signal ends at once", options.drain_timeout_s));
  service.SetDraining(true);
  if (http.Drain(options.drain_timeout_s)) return;
  service.CancelAll();
  if (!http.Drain(kLastWordsS)) log.Note("some clients have not taken their answers");
}

}  // namespace

Result<int> Run(const ServeOptions& options) {
  ADIT_ASSIGN_OR_RETURN(ServedEntries served, EntriesOf(options));
  if (!options.guard_model.empty()) ADIT_RETURN_IF_ERROR(CheckModelPath(options.guard_model));
  ADIT_RETURN_IF_ERROR(CheckOptions(options));
  ADIT_ASSIGN_OR_RETURN(std::string chat_template, ReadTemplate("--chat-template", options.chat_template_file));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<ApiKeys> keys, ApiKeys::Create(options.api_keys, options.api_key_file));
  std::vector<sched::Tenant> tenants = TenantsOf(*keys);
  // Whoever reads the log may go; that is no reason to end.
  (void)::signal(SIGPIPE, SIG_IGN);
  // A file that may not grow is as a full disk: an error of whoever writes.
  (void)::signal(SIGXFSZ, SIG_IGN);
  const server::LogFormat format = !options.access_log ? server::LogFormat::kNone
                                   : options.log_json  ? server::LogFormat::kJson
                                                       : server::LogFormat::kText;
  AccessLog log(format, STDERR_FILENO);
  const bool is_single = served.entries.size() == 1;
  const HangupScope hangup(!options.tls_certificate.empty());
  const std::string default_name = served.entries.front().name;
  ADIT_ASSIGN_OR_RETURN(const int64_t budget_bytes,
                        engine::ParseMemoryBudget(options.memory, engine::MachineMemoryBytes()));
  server::ModelPool models(
      std::move(served.entries),
      {.budget_bytes = std::max<int64_t>(1, budget_bytes - engine::ResidentBytes()), .is_single = is_single},
      MakeModelSource(options, std::move(chat_template), std::move(tenants), log));
  Service service({.model_name = default_name,
                   .version = kVersion,
                   .revision = Revision(),
                   .strict_params = options.strict_params,
                   .public_metrics = options.public_metrics,
                   .max_body_bytes = static_cast<size_t>(options.max_body_mb) << 20,
                   .cors_origins = options.cors_origins,
                   .watchdog_s = options.watchdog_s,
                   .compat = options.compat,
                   .with_ui = options.with_ui,
                   .vllm_names = options.metrics_compat == "vllm"},
                  std::move(keys), log, models);
  if (!options.guard_file.empty()) {
    ADIT_ASSIGN_OR_RETURN(std::shared_ptr<const guard::Rules> rules, guard::LoadRules(options.guard_file));
    service.SetGuard(std::move(rules));
  }
  ADIT_RETURN_IF_ERROR(StartSpans(options, log, service));
  MeasureBandwidth(options, service);
  ADIT_RETURN_IF_ERROR(StartGuardModel(options, service));
  if (options.response_store_mb > 0) {
    ADIT_ASSIGN_OR_RETURN(
        std::unique_ptr<server::ResponseStore> responses,
        server::ResponseStore::Open({.folder = options.response_dir,
                                     .max_bytes = static_cast<size_t>(options.response_store_mb) << 20,
                                     .ttl_s = options.response_ttl_h * 3600}));
    service.SetResponses(std::move(responses));
  }
  ADIT_RETURN_IF_ERROR(OpenFiles(options, service));
  server::HttpOptions http_options{
      .address = {.host = options.host, .port = static_cast<uint16_t>(options.port), .unix_path = options.unix_path},
      .tls = {.certificate = options.tls_certificate,
              .key = options.tls_key,
              .client_authority = options.tls_client_authority},
      .num_threads = static_cast<int>(options.threads_http)};
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> http, HttpServer::Start(http_options, service));
  service.SetServer(http.get());
  log.Note(fmt::format("listening at {}", AddressOf(options, *http)));
  ADIT_RETURN_IF_ERROR(WritePortFile(options.port_file, http->port()));
  ADIT_RETURN_IF_ERROR(models.LoadAtStart());
  const InterruptScope interrupts({SIGINT, SIGTERM});
  WaitForSignal(hangup, *http, log);
  Drain(options, service, *http, log);
  service.SetServer(nullptr);
  return kExitOk;
}

}  // namespace adit::cli
