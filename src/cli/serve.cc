// adit serve.
#include <fmt/core.h>
#include <poll.h>
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
#include "engine/engine.h"
#include "engine/machine.h"
#include "engine/memory_fit.h"
#include "server/access_log.h"
#include "server/api_keys.h"
#include "server/http_server.h"
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

std::string ModelName(const ServeOptions& options) {
  return options.names.empty() ? std::filesystem::path(options.model).stem().string() : options.names.front();
}

Result<std::string> ReadTemplate(const std::string& path) {
  if (path.empty()) return std::string();
  ADIT_ASSIGN_OR_RETURN(std::string text, ReadFileOrStdin(path));
  if (text.empty()) return InvalidArgument("--chat-template: '{}' is empty", OneLine(path));
  if (text.size() > kMaxTemplateBytes) {
    return InvalidArgument("--chat-template: '{}' has {} bytes; it has at most {}", OneLine(path), text.size(),
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

// Loads the model, starts its engine, and has the service answer with it.
Status StartModel(const ServeOptions& options, std::string chat_template, std::vector<sched::Tenant> tenants,
                  Service& service) {
  const auto progress = [&service](double share) { service.SetLoadProgress(share); };
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine, progress));
  engine::EngineOptions engine_options;
  engine_options.scheduler = options.scheduler;
  if (tenants.size() > 1 && options.scheduler.policy == sched::Policy::kFcfs) {
    engine_options.scheduler.policy = sched::Policy::kFair;
  }
  engine_options.scheduler.max_context = options.context_length.value_or(0);
  ADIT_ASSIGN_OR_RETURN(engine_options.kv_types, ChosenKvTypes(options.engine));
  ADIT_ASSIGN_OR_RETURN(engine_options.kv_tokens, KvTokensOf(options, *model, engine_options.kv_types));
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
  served.chat_template = std::move(chat_template);
  for (const sched::Tenant& tenant : tenants) served.tenants.push_back(tenant.name);
  engine_options.scheduler.tenants = std::move(tenants);
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine, engine::Engine::Create(*model, engine_options));
  auto ready = ServedModel::Create(std::move(model), std::move(engine), std::move(served));
  if (!ready->api().chat.ok()) PrintNote("chat requests cannot be answered: " + ready->api().chat.status().message());
  service.Attach(std::move(ready));
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

std::string Place(const ServeOptions& options, const HttpServer& http) {
  if (!options.unix_path.empty()) return options.unix_path;
  const bool v6 = options.host.find(':') != std::string::npos;
  return fmt::format("http://{}:{}", v6 ? "[" + options.host + "]" : options.host, http.port());
}

void WaitForSignal() {
  pollfd signal{.fd = InterruptDescriptor(), .events = POLLIN, .revents = 0};
  while (PendingInterrupt() == 0) (void)::poll(&signal, 1, -1);
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
  ADIT_RETURN_IF_ERROR(CheckOptions(options));
  ADIT_ASSIGN_OR_RETURN(std::string chat_template, ReadTemplate(options.chat_template_file));
  ADIT_ASSIGN_OR_RETURN(std::unique_ptr<ApiKeys> keys, ApiKeys::Create(options.api_keys, options.api_key_file));
  std::vector<sched::Tenant> tenants = TenantsOf(*keys);
  // Whoever reads the log may go; that is no reason to end.
  (void)::signal(SIGPIPE, SIG_IGN);
  const server::LogFormat format = !options.access_log ? server::LogFormat::kNone
                                   : options.log_json  ? server::LogFormat::kJson
                                                       : server::LogFormat::kText;
  AccessLog log(format, STDERR_FILENO);
  Service service({.model_name = ModelName(options),
                   .version = kVersion,
                   .strict_params = options.strict_params,
                   .public_metrics = options.public_metrics,
                   .max_body_bytes = static_cast<size_t>(options.max_body_mb) << 20,
                   .watchdog_s = options.watchdog_s},
                  std::move(keys), log);
  server::HttpOptions http_options{
      .address = {.host = options.host, .port = static_cast<uint16_t>(options.port), .unix_path = options.unix_path},
      .num_threads = static_cast<int>(options.threads_http)};
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<HttpServer> http, HttpServer::Start(http_options, service));
  service.SetServer(http.get());
  log.Note(fmt::format("listening at {}", Place(options, *http)));
  ADIT_RETURN_IF_ERROR(WritePortFile(options.port_file, http->port()));
  ADIT_RETURN_IF_ERROR(StartModel(options, std::move(chat_template), std::move(tenants), service));
  const InterruptScope interrupts({SIGINT, SIGTERM});
  const ServedModel& served = *service.model();
  log.Note(fmt::format("ready: {}, context {}, cache {} tokens, {} threads, {} kernels", served.name(),
                       served.api().max_context, served.engine().runner().kv_capacity_tokens(),
                       served.model().num_threads(), served.model().kernels().name));
  WaitForSignal();
  Drain(options, service, *http, log);
  service.SetServer(nullptr);
  return kExitOk;
}

}  // namespace adit::cli
