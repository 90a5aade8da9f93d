#ifndef ADIT_CLI_OPTIONS_H_
#define ADIT_CLI_OPTIONS_H_

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/bench_options.h"
#include "sample/sampling_params.h"
#include "sched/options.h"

// What each command takes from the command line. A member that is nullopt was not given.
namespace adit::cli {

// How a model is run.
struct EngineOptions {
  std::optional<int> threads;
  bool bind_threads = true;
  std::optional<std::string> isa;
  std::optional<std::string> dtype;             // as engine::WeightTypesFor takes it
  std::optional<std::string> quantization;      // the same
  std::optional<std::string> kv_type;           // as engine::ParseKvTypes takes it
  std::optional<std::string> activation_terms;  // "one", "outliers" or "two"
};

// The defaults of llama-cli.
inline sample::SamplingParams DefaultSampling() {
  return {.repeat_last_n = 64, .top_k = 40, .top_p = 0.95, .min_p = 0.05, .temperature = 0.8, .top_logprobs = -1};
}

struct RunOptions {
  std::string model;
  std::optional<std::string> prompt;
  std::optional<std::string> system;
  sample::SamplingParams sampling = DefaultSampling();
  std::vector<std::string> flags;  // the names of those that were given, without dashes
  std::optional<int64_t> seed;     // drawn when absent
  std::optional<int64_t> context_length;
  int64_t max_tokens = -1;
  // What answers are held to: at most one of them.
  std::optional<std::string> json_schema_file;
  std::optional<std::string> grammar_file;
  std::optional<std::string> regex;
  bool json_object = false;
  bool ignore_eos = false;
  bool raw = false;
  bool verbose = false;
  EngineOptions engine;
};

struct ShowOptions {
  std::string model;
  bool tensors = false;
  bool metadata = false;
  bool chat_template = false;
  bool json = false;
};

struct TokenizeOptions {
  std::string model;
  std::optional<std::string> text;
  std::optional<std::string> file;
  bool special = false;
  bool add_special = false;
  bool json = false;
  bool json_lines = false;
};

struct DetokenizeOptions {
  std::string model;
  std::vector<std::string> ids;
  std::optional<std::string> file;
  bool special = false;
  bool json = false;
  bool json_lines = false;
};

struct TemplateOptions {
  std::string source;  // a model or a template file
  std::optional<std::string> context_file;
  std::optional<std::tm> now;
};

struct LogitsOptions {
  std::string model;
  std::optional<std::string> tokens;
  std::optional<std::string> tokens_file;
  bool all = false;
  std::optional<int64_t> chunk;
  std::string output;
  EngineOptions engine;
};

struct EmbedOptions {
  std::string model;
  std::vector<std::string> texts;
  std::optional<std::string> file;
  std::optional<std::string> pooling;  // as engine::ParsePooling takes it; the model's when absent
  bool ids = false;                    // texts are token ids
  bool normalize = false;
  bool truncate = false;
  bool json = false;
  EngineOptions engine;
};

struct BenchSimulateOptions {
  BenchOptions bench;
  sched::StepCost cost;
};

struct BenchThroughputOptions {
  std::string model;
  BenchOptions bench;
  std::optional<std::string> memory;  // as engine::ParseMemoryBudget takes it
  EngineOptions engine;
};

struct BenchServeOptions {
  std::string url;
  std::string model;  // empty: the first that the server names
  std::string api_key;
  std::optional<std::string> vs;  // the URL of another server
  std::string vs_model;
  std::string endpoint = "chat";  // or "completions"
  int64_t max_concurrency = 0;    // 0: no limit
  bool ignore_eos = true;
  int64_t token_ids = 0;  // prompts are ids below it; 0: they are words
  std::string extra_body = "{}";
  double timeout_s = 600.0;
  std::optional<std::string> compare;
  BenchOptions bench;
};

struct BenchRooflineOptions {
  std::vector<int64_t> threads;  // empty: one, and all
  MachineBenchOptions machine;
};

struct BenchKernelsOptions {
  std::vector<std::string> types;  // empty: all that the kernels have
  // Of weights, rows and columns: those of a narrow and of a wide model's feed-forward.
  std::vector<std::pair<int64_t, int64_t>> shapes = {{1536, 512}, {8960, 1536}};
  std::vector<int64_t> rows = {1, 4, 16, 512};  // of activations
  std::vector<int64_t> threads;                 // empty: all
  std::optional<std::string> isa;
  MachineBenchOptions machine;
};

struct BenchModelOptions {
  std::string model;
  std::vector<int64_t> prompts = {512};
  std::vector<int64_t> gens = {128};
  std::vector<int64_t> depths = {0};
  std::vector<int64_t> batches = {1};
  std::vector<int64_t> threads;  // empty: all
  int64_t chunk = 512;           // prompt tokens of a pass
  int64_t block_size = 16;
  bool ablate = false;
  EngineOptions engine;
  MachineBenchOptions machine;
};

struct BenchStartupOptions {
  std::string model;
  EngineOptions engine;
  MachineBenchOptions machine;
};

struct BatchOptions {
  std::string input;
  std::string output;
  std::string model;
  bool overwrite = false;
  std::optional<int64_t> context_length;
  std::optional<int64_t> max_tokens;
  std::optional<int64_t> kv_tokens;
  std::optional<std::string> memory;  // instead of kv_tokens, as engine::ParseMemoryBudget takes it
  // As many requests are there as the command lets in, so none is refused for the queue.
  sched::SchedulerOptions scheduler{.max_queued_requests = 0};
  EngineOptions engine;
};

struct ServeOptions {
  std::vector<std::string> models;   // paths, or names of the store
  std::vector<std::string> preload;  // of several: those that are loaded before anyone asks; "all"
  std::vector<std::string> pins;     // that are never unloaded to make room
  bool offline = false;              // nothing is fetched
  std::vector<std::string> compat;   // other interfaces that are offered: "ollama"
  // Where clients come in.
  std::string host = "127.0.0.1";
  int64_t port = 8000;
  std::string unix_path;  // of a socket instead; empty: none
  std::string port_file;  // gets the port when the server listens; empty: none
  int64_t threads_http = 2;
  int64_t max_body_mb = 32;
  double drain_timeout_s = 30.0;
  std::string tls_certificate;  // files, empty: none
  std::string tls_key;
  std::string tls_client_authority;
  // Who may.
  std::vector<std::string> cors_origins;
  std::vector<std::string> api_keys;
  std::string api_key_file;
  bool public_metrics = false;
  // What is offered.
  std::string task = "auto";           // "generate" or "embed"; auto: what the model is made for
  std::optional<std::string> pooling;  // of embeddings; unset: the model's
  std::string default_sampling;        // NAME=VALUE,... of requests that do not say; empty: the model's
  bool model_sampling = true;          // the model's own recommendations are taken
  std::vector<std::string> names;      // of the model; none: that of the file
  std::string chat_template_file;      // empty: the model's own
  std::string tool_parser = "auto";
  std::string reasoning_parser = "auto";
  std::optional<int64_t> context_length;
  std::optional<int64_t> max_output_tokens;
  int64_t max_answers = 128;
  int64_t max_stops = 16;
  int64_t max_logprobs = 20;
  bool strict_params = false;
  // What is kept of /v1/responses.
  std::string response_dir;  // empty: a folder that goes with the server
  int64_t response_store_mb = 256;
  double response_ttl_h = 720.0;
  // What is kept of /v1/files and /v1/batches.
  std::string file_dir;  // empty: a folder that goes with the server
  int64_t file_store_mb = 1024;
  double file_ttl_h = 720.0;
  // How it is run.
  std::string memory = "80%";  // as engine::ParseMemoryBudget takes it
  std::optional<int64_t> kv_tokens;
  sched::SchedulerOptions scheduler;
  double watchdog_s = 60.0;
  EngineOptions engine;
  // What is told of it.
  bool access_log = true;
  bool log_json = false;
  bool with_ui = true;
  // Who stands between clients and the model; empty: nobody.
  std::string guard_file;           // rules
  std::string guard_model;          // a model that judges
  std::string guard_template_file;  // of its prompts; empty: its own
  std::string guard_side = "both";  // what it filters: input, output, both, or none
  std::string guard_unsafe = "unsafe";
  std::string guard_safe = "safe";
  std::string metrics_compat;  // "vllm"; empty: none
  std::string otlp_endpoint;   // empty: traces are not told
};

struct ConvertOptions {
  std::string model;
  std::string output;
  std::optional<std::string> type;
  std::optional<bool> to_folder;  // unset: by what `output` is called
  size_t max_part_bytes = 0;      // of a GGUF file in parts; 0: one file
};

// Of adit quantize: choosing types by what they cost, and reporting on several.
struct QuantizeQualityOptions {
  std::optional<double> target_bpw;  // bits a weight of the whole file; in place of a scheme
  std::vector<std::string> types;  // to choose from: names of types, or of schemes for a report; empty: the usual ones
  std::optional<std::string> report;  // HTML
  std::optional<std::string> json;
  std::string file;              // the text that a report judges by; empty: the calibration text
  std::string goal = "fastest";  // "smallest", "fastest" or "quality"
  double max_kld = 0.05;         // mean, nats a token
  int64_t windows = 8;           // of the text, at most
  int64_t context = 512;         // tokens of a window

  bool reports() const { return report.has_value() || json.has_value(); }
};

struct QuantizeOptions {
  std::string model;
  std::string output;  // empty: a report writes none
  std::string scheme;  // as quant::FindScheme takes it; empty with a target or a report
  QuantizeQualityOptions quality;
  std::optional<std::string> importance_file;
  std::optional<std::string> mix_file;
  std::vector<std::string> rules;  // as quant::Mix::Add takes them; before those of mix_file
  bool pure = false;
  bool requantize = false;
  bool dry_run = false;
  std::optional<int> threads;
  bool gptq = false;
  bool awq = false;
  bool smooth = false;
  // Of types that are written as Hugging Face folders.
  std::optional<std::string> format;
  int64_t group_size = 128;
  bool asymmetric = false;
  bool static_inputs = false;
  size_t max_part_bytes = 0;  // as for ConvertOptions
  std::optional<std::string> resume_folder;
  std::optional<std::string> calibration_file;
  int64_t calibration_windows = 32;
  int64_t calibration_context = 512;
};

struct ImatrixOptions {
  std::string model;
  std::string file;
  std::string output;
  std::optional<int64_t> limit;  // windows
  std::optional<int64_t> context;
  EngineOptions engine;
};

// What the commands of eval have in common.
struct EvalOptions {
  std::string model;
  std::string file;
  std::optional<int64_t> limit;  // windows or items
  std::optional<int64_t> context;
  bool json = false;
  EngineOptions engine;
};

struct EvalPerplexityOptions : EvalOptions {
  std::optional<std::string> save_base;
};

struct EvalKldOptions : EvalOptions {
  std::string base;  // a model, or a file of logits
};

struct EvalChoiceOptions : EvalOptions {
  int64_t examples = 0;
};
struct EvalHellaSwagOptions : EvalChoiceOptions {};
struct EvalMmluOptions : EvalChoiceOptions {};
struct EvalGsm8kOptions : EvalChoiceOptions {
  int64_t max_tokens = 256;  // of an answer
};

// limit: needles of each length and depth.
struct EvalNeedleOptions : EvalOptions {
  std::vector<int64_t> lengths = {512, 1024, 2048};    // tokens of the prompt
  std::vector<int64_t> depths = {0, 25, 50, 75, 100};  // per cent of the way
  uint64_t seed = 1;
};

struct PullOptions {
  std::string model;
  std::optional<std::string> quant;
  std::optional<std::string> revision;
  std::optional<std::string> alias;
  std::vector<std::string> include;
  int64_t connections = 4;
  bool resume = true;
  bool verify = false;
  bool json = false;
};

struct ListOptions {
  bool json = false;
};

struct RemoveOptions {
  std::vector<std::string> names;
  bool json = false;
};

struct CopyOptions {
  std::string model;
  std::string name;
  bool json = false;
};

struct PsOptions {
  std::optional<std::string> url;
  bool json = false;
};

struct StopOptions {
  std::string model;
  std::optional<std::string> url;
  bool json = false;
};

struct DoctorOptions {};

struct VersionOptions {};

struct CompletionOptions {
  std::string shell;  // "bash", "zsh" or "fish"
};

struct ManualOptions {};

using Command = std::variant<RunOptions, ShowOptions, TokenizeOptions, DetokenizeOptions, TemplateOptions,
                             LogitsOptions, EmbedOptions, BatchOptions, ServeOptions, ConvertOptions, QuantizeOptions,
                             ImatrixOptions, BenchSimulateOptions, BenchThroughputOptions, BenchServeOptions,
                             BenchRooflineOptions, BenchKernelsOptions, BenchModelOptions, BenchStartupOptions,
                             EvalPerplexityOptions, EvalKldOptions, EvalHellaSwagOptions, EvalMmluOptions,
                             EvalGsm8kOptions, EvalNeedleOptions, PullOptions, ListOptions, RemoveOptions, CopyOptions,
                             PsOptions, StopOptions, DoctorOptions, VersionOptions, CompletionOptions, ManualOptions>;

}  // namespace adit::cli

#endif  // ADIT_CLI_OPTIONS_H_
