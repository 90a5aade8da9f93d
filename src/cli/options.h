#ifndef ADIT_CLI_OPTIONS_H_
#define ADIT_CLI_OPTIONS_H_

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
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
  std::optional<std::string> isa;
  std::optional<std::string> kv_type;           // as engine::ParseKvTypes takes it
  std::optional<std::string> activation_terms;  // "one", "normed" or "two"
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
  std::optional<int64_t> seed;  // drawn when absent
  std::optional<int64_t> context_length;
  int64_t max_tokens = -1;
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
  EngineOptions engine;
};

struct BatchOptions {
  std::string input;
  std::string output;
  std::string model;
  bool overwrite = false;
  std::optional<int64_t> context_length;
  std::optional<int64_t> max_tokens;
  std::optional<int64_t> kv_tokens;
  // As many requests are there as the command lets in, so none is refused for the queue.
  sched::SchedulerOptions scheduler{.max_queued_requests = 0};
  EngineOptions engine;
};

struct DoctorOptions {};

struct VersionOptions {};

using Command = std::variant<RunOptions, ShowOptions, TokenizeOptions, DetokenizeOptions, TemplateOptions,
                             LogitsOptions, EmbedOptions, BatchOptions, BenchSimulateOptions, BenchThroughputOptions,
                             DoctorOptions, VersionOptions>;

}  // namespace adit::cli

#endif  // ADIT_CLI_OPTIONS_H_
