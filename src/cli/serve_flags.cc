// Flags of adit serve.
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/command_flags.h"

namespace adit::cli {
namespace {

constexpr int64_t kMany = 1 << 30;

Result<std::vector<std::string>> ParseCompat(std::string_view text) {
  ADIT_ASSIGN_OR_RETURN(std::vector<std::string> names, SplitAtCommas(text));
  for (const std::string& name : names) {
    if (name != "ollama") return InvalidArgument("'{}' is not known; there is: ollama", name);
  }
  return names;
}

void AddNet(CLI::App& app, ServeOptions& out) {
  AddText(app, "--host", out.host, "Address to listen at [127.0.0.1: this machine alone]", "HOST");
  CLI::Option* port = AddCount(
      app, "--port", 0, 65535, [&out](int64_t n) { out.port = n; }, "Port; 0: one that is free [8000]");
  CLI::Option* path = AddText(app, "--uds", out.unix_path, "Listen at a Unix socket instead", "PATH");
  Exclude(port, path);
  AddText(app, "--port-file", out.port_file, "Write the port to a file when listening", "FILE");
  AddCount(
      app, "--threads-http", 1, 256, [&out](int64_t n) { out.threads_http = n; }, "Threads for clients [2]");
  AddCount(
      app, "--max-body-mb", 1, 4096, [&out](int64_t n) { out.max_body_mb = n; }, "Largest body of a request [32]");
  AddText(app, "--tls-cert", out.tls_certificate, "PEM file of a certificate and its chain; read again on change",
          "FILE");
  AddText(app, "--tls-key", out.tls_key, "PEM file of its key", "FILE");
  AddText(app, "--tls-client-ca", out.tls_client_authority, "PEM file: clients must show a certificate that it signed",
          "FILE");
  AddReal(app, "--drain-timeout", out.drain_timeout_s, "Seconds that running requests get at the end [30]");
}

void AddKeys(CLI::App& app, ServeOptions& out) {
  AddList(app, "--api-key", out.api_keys, "A key that clients must show; may be given again", "KEY");
  AddText(app, "--api-key-file", out.api_key_file, "Hashed keys with scopes and tenants; read again on change", "FILE");
  AddList(app, "--cors-origin", out.cors_origins,
          "Page whose scripts may ask, as https://x.org; *: all; may be given again", "ORIGIN");
  AddSwitch(app, "--public-metrics", out.public_metrics, "/metrics and /health need no key");
}

void AddOffer(CLI::App& app, ServeOptions& out) {
  AddWord(
      app, "--task", {"auto", "generate", "embed"}, [&out](const std::string& name) { out.task = name; },
      "What the model is for [auto: embeddings where its file says how they are pooled]", "NAME");
  AddWord(
      app, "--pooling", {"mean", "cls", "last"}, [&out](const std::string& name) { out.pooling = name; },
      "How embeddings come of tokens [the model's]", "NAME");
  AddText(app, "--default-sampling", out.default_sampling,
          "What requests get that do not say: temperature=0.7,top_p=0.9 [the model's]", "LIST");
  AddWord(
      app, "--generation-config", {"auto", "none"},
      [&out](const std::string& name) { out.model_sampling = name == "auto"; },
      "Whether the model's own recommendations for sampling are taken [auto]", "NAME");
  AddList(app, "--served-model-name,--alias", out.names,
          "Names that clients call the model by [the file's]; of one of several: NAME=MODEL", "NAME");
  AddList(app, "--preload", out.preload, "Load this one of several models at the start; all: all that there are",
          "NAME");
  AddList(app, "--pin", out.pins, "Load it at the start and never unload it to make room for others", "NAME");
  AddParsed(app, "--compat", &ParseCompat, out.compat, "Interfaces of other servers to offer as well: ollama", "LIST");
  AddSwitch(app, "--offline", out.offline, "Fetch no models, whoever asks");
  AddText(app, "--chat-template", out.chat_template_file, "Jinja template instead of the model's own", "FILE");
  AddWord(
      app, "--tool-call-parser",
      {"auto", "none", "hermes", "llama3_json", "mistral", "pythonic", "deepseek", "command_r", "granite", "gemma",
       "harmony"},
      [&out](const std::string& name) { out.tool_parser = name; },
      "How the model writes calls of tools [auto: by its template]", "NAME");
  AddWord(
      app, "--reasoning-parser", {"auto", "none", "think", "command_r", "granite", "harmony"},
      [&out](const std::string& name) { out.reasoning_parser = name; },
      "How it writes its thoughts [auto: by its template]", "NAME");
  AddCount(
      app, "--ctx,--max-model-len", 1, std::numeric_limits<int64_t>::max(),
      [&out](int64_t n) { out.context_length = n; }, "Context of a request in tokens [the model's]");
  AddCount(
      app, "--max-output-tokens", 0, kMany, [&out](int64_t n) { out.max_output_tokens = n; },
      "Most tokens of an answer [the context's]");
  AddCount(
      app, "--max-n", 1, 128, [&out](int64_t n) { out.max_answers = n; }, "Most answers to a request [128]");
  AddCount(
      app, "--max-stop", 0, 1024, [&out](int64_t n) { out.max_stops = n; }, "Most stop strings [16]");
  AddCount(
      app, "--max-logprobs", 0, 20, [&out](int64_t n) { out.max_logprobs = n; }, "Most likeliest tokens told [20]");
  AddSwitch(app, "--strict-params", out.strict_params, "Fields that are not known are errors");
}

void AddResponses(CLI::App& app, ServeOptions& out) {
  AddText(app, "--response-dir", out.response_dir,
          "Folder for the responses that /v1/responses keeps [one that goes with the server]", "DIR");
  AddCount(
      app, "--response-store-mb", 0, kMany, [&out](int64_t n) { out.response_store_mb = n; },
      "Most that is kept of them, the newest; 0: none [256]");
  AddReal(app, "--response-ttl-h", out.response_ttl_h, "Hours that they are kept [720]");
  AddText(app, "--file-dir", out.file_dir,
          "Folder for the files and batches of /v1/files and /v1/batches [one that goes with the server]", "DIR");
  AddCount(
      app, "--file-store-mb", 0, kMany, [&out](int64_t n) { out.file_store_mb = n; },
      "Most MB of them; 0: neither files nor batches [1024]");
  AddReal(app, "--file-ttl-h", out.file_ttl_h, "Hours that they are kept [720]");
}

void AddGuard(CLI::App& app, ServeOptions& out) {
  AddText(app, "--guard", out.guard_file, "Rules for what is asked and answered (TOML)", "FILE");
  AddText(app, "--guard-model", out.guard_model, "A model that judges what is asked and answered", "MODEL");
  AddText(app, "--guard-template", out.guard_template_file, "Jinja template of its prompts [its own]", "FILE");
  AddWord(
      app, "--guard-model-on", {"input", "output", "both", "none"},
      [&out](const std::string& name) { out.guard_side = name; },
      "What it filters; none: it answers /v1/moderations alone [both]", "NAME");
  AddText(app, "--guard-unsafe", out.guard_unsafe, "The word by which it tells that a text is unsafe [unsafe]", "WORD");
  AddText(app, "--guard-safe", out.guard_safe, "The word by which it tells that one is safe [safe]", "WORD");
}

void AddSchedule(CLI::App& app, ServeOptions& out) {
  sched::SchedulerOptions& scheduler = out.scheduler;
  AddText(app, "--memory", out.memory, "What the process may come to use: 24G, or a share of the machine [80%]",
          "SIZE");
  AddCount(
      app, "--kv-tokens", 1, std::numeric_limits<int64_t>::max(), [&out](int64_t n) { out.kv_tokens = n; },
      "Tokens that the cache holds [what --memory leaves]");
  AddCount(
      app, "--max-num-seqs", 1, kMany, [&](int64_t n) { scheduler.max_num_seqs = n; }, "Sequences at once [64]");
  AddCount(
      app, "--max-num-batched-tokens", 1, kMany, [&](int64_t n) { scheduler.max_batch_tokens = n; },
      "Tokens of a step [512]");
  AddParsed(app, "--scheduling-policy", &sched::ParsePolicy, scheduler.policy,
            "fcfs, priority, sjf, lpm, fair or deadline [fcfs; fair where keys have tenants]", "NAME");
  AddScaled(app, "--itl-target-ms", 1e-3, scheduler.itl_target_s,
            "Keep chunks so small that steps with decodes take no longer [0: off]");
  AddSwitch(
      app, "--no-prefix-caching", [&] { scheduler.prefix_cache = false; }, "Compute every prompt whole");
  AddCount(
      app, "--max-queued-requests", 0, kMany, [&](int64_t n) { scheduler.max_queued_requests = n; },
      "More that wait are refused with 429; 0: no limit [1024]");
  AddCount(
      app, "--max-queued-tokens", 0, kMany, [&](int64_t n) { scheduler.max_queued_tokens = n; },
      "The same for tokens of prompts [0]");
  AddReal(app, "--watchdog-s", out.watchdog_s, "Not ready when the engine has not stepped for so long [60]");
}

}  // namespace

void AddServe(CLI::App& app, ServeOptions& out) {
  AddModels(app, out.models);
  AddNet(app, out);
  AddKeys(app, out);
  AddOffer(app, out);
  AddResponses(app, out);
  AddSchedule(app, out);
  AddEngine(app, out.engine);
  AddSwitch(
      app, "--no-access-log", [&out] { out.access_log = false; }, "No line for each request on stderr");
  AddSwitch(app, "--log-json", out.log_json, "Lines of the log are JSON");
  AddGuard(app, out);
  AddWord(
      app, "--metrics-compat", {"vllm"}, [&out](const std::string& name) { out.metrics_compat = name; },
      "Metrics also under the names that others have", "NAME");
  AddText(
      app, "--otlp-endpoint", out.otlp_endpoint,
      "Tell OpenTelemetry's collector there of each request, by OTLP over HTTP, such as http://127.0.0.1:4318 [none]",
      "URL");
  AddSwitch(
      app, "--no-ui", [&out] { out.with_ui = false; }, "No web page at /");
}

}  // namespace adit::cli
