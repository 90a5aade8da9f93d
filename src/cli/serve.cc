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
#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/load_model.h"
#include "cli/model_file.h"
#include "cli/printable.h"
#include "cli/signals.h"
#include "engine/embedding_engine.h"
#include "engine/engine.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "engine/model_sampling.h"
#include "engine/pooling.h"
#include "guard/rules_file.h"
#include "plan/read_rate.h"
#include "server/access_log.h"
#include "server/api_keys.h"
#include "server/default_sampling.h"
#include "server/guard_model.h"
#include "server/http_server.h"
#include "server/response_store.h"
#include "server/served_model.h"
#include "server/service.h"

namespace adit::cli {
namespace {

using server::AccessLog;
using server::ApiKeys;
using server::HttpServer;
using server::ServedModel;
using server::Service;

// What answers get to leave by once they have been cancelled.
constexpr double kLastWordsS = 2.0;
constexpr size_t kMaxTemplateBytes = size_t{1} << 20;
// What a guard model gets.
constexpr int64_t kGuardContext = 8192;
constexpr int64_t kGuardSequences = 8;
// What is read to see how fast memory is.
constexpr size_t kLeastReadBytes = size_t{16} << 20;
constexpr size_t kMostReadBytes = size_t{128} << 20;

std::string ModelName(const ServeOptions& options) {
  return options.names.empty() ? std::filesystem::path(options.model).stem().string() : options.names.front();
}

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

Result<int64_t> KvTokensOf(const ServeOptions& options, const engine::LoadedModel& model,
                           const engine::KvTypes& types) {
  const int64_t own = model.spec().context_length;
  const int64_t context = std::min(options.context_length.value_or(own), own);
  if (options.kv_tokens) return ChosenKvTokens(options.kv_tokens, context, model, types);
  return KvTokensWithinMemory(options.memory, context * options.scheduler.max_num_seqs, model, types);
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

// Whether the model is to make embeddings: as the flag says, or as the model can do nothing else, or as its file says
// how they are pooled, which is told of no other model.
bool IsForEmbeddings(const ServeOptions& options, const engine::LoadedModel& model) {
  if (options.task != "auto") return options.task == "embed";
  return !model.spec().output.logits || model.spec().NeedsWholeSequences() || engine::TellsPooling(model.file());
}

Result<std::unique_ptr<engine::EmbeddingEngine>> StartEmbedder(const ServeOptions& options,
                                                               const engine::LoadedModel& model) {
  engine::EmbeddingEngineOptions wanted{.max_queued_requests = options.scheduler.max_queued_requests};
  ADIT_ASSIGN_OR_RETURN(wanted.embedder.pooling,
                        options.pooling ? engine::ParsePooling(*options.pooling) : engine::PoolingOf(model.file()));
  // One for each token is what a request may ask for; who does not say wants one.
  if (wanted.embedder.pooling == engine::Pooling::kNone) wanted.embedder.pooling = engine::Pooling::kMean;
  wanted.embedder.normalize = true;
  ADIT_ASSIGN_OR_RETURN(wanted.embedder.kv_types, ChosenKvTypes(options.engine));
  wanted.embedder.max_batch_tokens = options.scheduler.max_batch_tokens;
  return engine::EmbeddingEngine::Create(model, wanted);
}

// What requests get that do not say how to sample: OpenAI's defaults, the model's over them, the flag's over these.
Result<SamplingParams> SamplingOf(const ServeOptions& options, const engine::LoadedModel& model) {
  SamplingParams params;
  if (options.model_sampling) {
    const auto none_set = [](std::string_view) { return false; };
    ADIT_RETURN_IF_ERROR(engine::ApplyModelSampling(model.file().metadata(), none_set, params));
  }
  ADIT_RETURN_IF_ERROR(server::ApplyDefaultSampling(options.default_sampling, params));
  return params;
}

Result<server::ServedModelOptions> OfferOf(const ServeOptions& options, const std::vector<sched::Tenant>& tenants) {
  server::ServedModelOptions served{.name = ModelName(options)};
  if (options.names.size() > 1) served.aliases.assign(options.names.begin() + 1, options.names.end());
  if (options.tool_parser != "auto") {
    ADIT_ASSIGN_OR_RETURN(served.tools, server::ParseToolSyntax(options.tool_parser));
  }
  if (options.reasoning_parser != "auto") {
    ADIT_ASSIGN_OR_RETURN(served.reasoning, server::ParseReasoningSyntax(options.reasoning_parser));
  }
  served.limits = {.max_answers = options.max_answers,
                   .max_stops = static_cast<size_t>(options.max_stops),
                   .max_top_logprobs = options.max_logprobs,
                   .max_output_tokens = options.max_output_tokens.value_or(-1)};
  for (const sched::Tenant& tenant : tenants) served.tenants.push_back(tenant.name);
  return served;
}

Result<std::unique_ptr<engine::Engine>> StartEngine(const ServeOptions& options, std::vector<sched::Tenant> tenants,
                                                    const engine::LoadedModel& model) {
  engine::EngineOptions wanted;
  wanted.scheduler = options.scheduler;
  if (tenants.size() > 1 && options.scheduler.policy == sched::Policy::kFcfs) {
    wanted.scheduler.policy = sched::Policy::kFair;
  }
  wanted.scheduler.max_context = options.context_length.value_or(0);
  ADIT_ASSIGN_OR_RETURN(wanted.kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(wanted.kv_tokens, KvTokensOf(options, model, wanted.kv_types));
  wanted.scheduler.tenants = std::move(tenants);
  return engine::Engine::Create(model, wanted);
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
void MeasureBandwidth(const engine::LoadedModel& model, Service& service) {
  const size_t bytes = std::clamp(model.weights().packed.size_bytes(), kLeastReadBytes, kMostReadBytes);
  const Result<double> rate = plan::MeasureReadRate(model.exec_context().team, bytes);
  // Without it there is one figure less.
  if (rate.ok()) service.SetPeakBandwidth(*rate);
}

// Loads the model, starts its engine, and has the service answer with it.
Status StartModel(const ServeOptions& options, std::string chat_template, std::vector<sched::Tenant> tenants,
                  Service& service) {
  const auto progress = [&service](double share) { service.SetLoadProgress(share); };
  ADIT_ASSIGN_OR_RETURN(server::ServedModelOptions served, OfferOf(options, tenants));
  served.chat_template = std::move(chat_template);
  ADIT_RETURN_IF_ERROR(StartGuardModel(options, service));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine, progress));
  MeasureBandwidth(*model, service);
  if (IsForEmbeddings(options, *model)) {
    ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::EmbeddingEngine> embedder, StartEmbedder(options, *model));
    service.Attach(ServedModel::Create(std::move(model), std::move(embedder), std::move(served)));
    return Status();
  }
  ADIT_ASSIGN_OR_RETURN(served.sampling, SamplingOf(options, *model));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine, StartEngine(options, std::move(tenants), *model));
  auto ready = ServedModel::Create(std::move(model), std::move(engine), std::move(served));
  if (!ready->api().chat.ok()) PrintNote("chat requests cannot be answered: " + ready->api().chat.status().message());
  service.Attach(std::move(ready));
  return Status();
}

// What the log says of a model that is there.
std::string Describe(const ServedModel& served) {
  const std::string what =
      served.generates()
          ? fmt::format("context {}, cache {} tokens", served.api().max_context,
                        served.engine().runner().kv_capacity_tokens())
          : fmt::format("embeddings of {} numbers, pooling {}, context {}", served.model().spec().hidden_dim,
                        engine::PoolingName(served.embedder().options().pooling), served.api().max_context);
  return fmt::format("ready: {}, {}, {} threads, {} kernels", served.name(), what, served.model().num_threads(),
                     served.model().kernels().name);
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

std::string Place(const ServeOptions& options, const HttpServer& http) {
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
  ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
  if (!options.guard_model.empty()) ADIT_RETURN_IF_ERROR(CheckModelPath(options.guard_model));
  ADIT_RETURN_IF_ERROR(CheckOptions(options));
  ADIT_ASSIGN_OR_RETURN(std::string chat_template, ReadTemplate("--chat-template", options.chat_template_file));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<ApiKeys> keys, ApiKeys::Create(options.api_keys, options.api_key_file));
  std::vector<sched::Tenant> tenants = TenantsOf(*keys);
  // Whoever reads the log may go; that is no reason to end.
  (void)::signal(SIGPIPE, SIG_IGN);
  const server::LogFormat format = !options.access_log ? server::LogFormat::kNone
                                   : options.log_json  ? server::LogFormat::kJson
                                                       : server::LogFormat::kText;
  AccessLog log(format, STDERR_FILENO);
  const HangupScope hangup(!options.tls_certificate.empty());
  Service service({.model_name = ModelName(options),
                   .version = kVersion,
                   .strict_params = options.strict_params,
                   .public_metrics = options.public_metrics,
                   .max_body_bytes = static_cast<size_t>(options.max_body_mb) << 20,
                   .cors_origins = options.cors_origins,
                   .watchdog_s = options.watchdog_s,
                   .with_ui = options.with_ui,
                   .vllm_names = options.metrics_compat == "vllm"},
                  std::move(keys), log);
  if (!options.guard_file.empty()) {
    ADIT_ASSIGN_OR_RETURN(std::shared_ptr<const guard::Rules> rules, guard::LoadRules(options.guard_file));
    service.SetGuard(std::move(rules));
  }
  if (options.response_store_mb > 0) {
    ADIT_ASSIGN_OR_RETURN(
        std::unique_ptr<server::ResponseStore> responses,
        server::ResponseStore::Open({.folder = options.response_dir,
                                     .max_bytes = static_cast<size_t>(options.response_store_mb) << 20,
                                     .ttl_s = options.response_ttl_h * 3600}));
    service.SetResponses(std::move(responses));
  }
  server::HttpOptions http_options{
      .address = {.host = options.host, .port = static_cast<uint16_t>(options.port), .unix_path = options.unix_path},
      .tls = {.certificate = options.tls_certificate,
              .key = options.tls_key,
              .client_authority = options.tls_client_authority},
      .num_threads = static_cast<int>(options.threads_http)};
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> http, HttpServer::Start(http_options, service));
  service.SetServer(http.get());
  log.Note(fmt::format("listening at {}", Place(options, *http)));
  ADIT_RETURN_IF_ERROR(WritePortFile(options.port_file, http->port()));
  ADIT_RETURN_IF_ERROR(StartModel(options, std::move(chat_template), std::move(tenants), service));
  const InterruptScope interrupts({SIGINT, SIGTERM});
  log.Note(Describe(*service.model()));
  WaitForSignal(hangup, *http, log);
  Drain(options, service, *http, log);
  service.SetServer(nullptr);
  return kExitOk;
}

}  // namespace adit::cli
