#include "cli/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker_team.h"
#include "cli/date_time.h"
#include "cli/printable.h"
#include "cli/suggest.h"
#include "cli/units.h"
#include "engine/kv_types.h"
#include "engine/pooling.h"

// CLI11 is included here and nowhere else: it takes long to compile.
namespace adit::cli {
namespace {

constexpr const char* kModelHelp = "Model: the path of a .gguf file";
constexpr size_t kMaxShownBytes = 60;

// Throws what CLI11 throws for a bad value; ParseCommandLine catches it.
template <typename T>
T ValueOrThrow(Result<T> result, const std::string& flag) {
  if (!result.ok()) throw CLI::ValidationError(flag, result.status().message());
  return std::move(result).value();
}

// A positional, or a flag with one value. An empty value is one too.
CLI::Option* AddText(CLI::App& app, const std::string& names, std::optional<std::string>& out, const std::string& help,
                     const char* type = "TEXT") {
  const auto set = [&out](const std::string& text) { out = text; };
  return app.add_option_function<std::string>(names, set, help)->type_name(type);
}

CLI::Option* AddText(CLI::App& app, const std::string& names, std::string& out, const std::string& help,
                     const char* type) {
  return app.add_option(names, out, help)->type_name(type);
}

CLI::Option* AddModel(CLI::App& app, std::string& out) {
  return app.add_option("MODEL", out, kModelHelp)->required()->type_name("");
}

// A flag with a whole number in [low, high].
CLI::Option* AddCount(CLI::App& app, const std::string& names, int64_t low, int64_t high,
                      const std::function<void(int64_t)>& set, const std::string& help) {
  const auto parse = [=](const std::string& text) {
    const int64_t value = ValueOrThrow(ParseCount(text), names);
    if (value < low || value > high) {
      throw CLI::ValidationError(names, high == std::numeric_limits<int64_t>::max()
                                            ? fmt::format("{} is below {}", value, low)
                                            : fmt::format("{} is not in {}..{}", value, low, high));
    }
    set(value);
  };
  return app.add_option_function<std::string>(names, parse, help)->type_name("N");
}

void AddReal(CLI::App& app, const std::string& names, double& out, const std::string& help) {
  app.add_option(names, out, help)->type_name("X");
}

void AddEngine(CLI::App& app, EngineOptions& out) {
  AddCount(
      app, "--threads", 1, WorkerTeam::kMaxWorkers, [&out](int64_t n) { out.threads = static_cast<int>(n); },
      "Threads [ADIT_THREADS, else one for each CPU]");
  AddText(app, "--isa", out.isa, "Kernel set: auto, ref, avx2 or avx512 [ADIT_ISA, else auto]", "NAME");
  AddText(app, "--kv-type", out.kv_type,
          "Type of cached keys and values, or K,V for each: f32, f16, bf16, q8_0, q4_0 [what the kernels do best]",
          "TYPE")
      ->check([](const std::string& text) { return engine::ParseKvTypes(text).status().message(); });
  AddText(app, "--activation-terms", out.activation_terms,
          "8-bit terms of activations: one, two, or two where rows are normed [two for narrow models]", "N")
      ->check(CLI::IsMember({"one", "normed", "two"}));
}

// What few people use.
void AddMoreSampling(CLI::App& app, sample::SamplingParams& out) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  AddReal(app, "--typical-p", out.typical_p,
          "Keep the most typical tokens up to this probability together; 1 is off [1]");
  AddReal(app, "--top-n-sigma", out.top_n_sigma,
          "Keep tokens within X standard deviations of the best logit; up to 0 is off [-1]");
  AddReal(app, "--xtc-probability", out.xtc_probability,
          "How often the top choices but the last are dropped, 0 to 1 [0]");
  AddReal(app, "--xtc-threshold", out.xtc_threshold, "Probability of a top choice; above 0.5 is off [0.1]");
  AddReal(app, "--dry-multiplier", out.dry_multiplier, "Taken off the logit of a token that goes on a repetition [0]");
  AddReal(app, "--dry-base", out.dry_base, "Times this for each token that the repetition is longer [1.75]");
  AddCount(
      app, "--dry-allowed-length", 0, kMax, [&out](int64_t n) { out.dry_allowed_length = n; },
      "Repetitions shorter than this lose nothing [2]");
  AddCount(
      app, "--dry-penalty-last-n", -1, kMax, [&out](int64_t n) { out.dry_penalty_last_n = n; },
      "How many tokens back --dry-multiplier looks; -1: all [-1]");
  AddReal(app, "--dynatemp-range", out.dynatemp_range, "The temperature goes by entropy, so far down and up [0]");
  AddReal(app, "--dynatemp-exponent", out.dynatemp_exponent, "Power of the entropy's share of its maximum [1]");
  AddCount(
      app, "--mirostat", 0, 2, [&out](int64_t n) { out.mirostat = static_cast<int32_t>(n); },
      "Steer the surprise of the tokens: version 1 or 2, in place of filters; 0 is off [0]");
  AddReal(app, "--mirostat-tau", out.mirostat_tau, "The surprise, in bits, to steer to [5]");
  AddReal(app, "--mirostat-eta", out.mirostat_eta, "How fast, up to 1 [0.1]");
  AddCount(
      app, "--no-repeat-ngram-size", 0, sample::kMaxNgramSize, [&out](int64_t n) { out.no_repeat_ngram_size = n; },
      "No sequence of N tokens occurs twice; 0 is off [0]");
  const auto set_samplers = [&out](const std::string& text) { out.samplers = CLI::detail::split(text, ','); };
  app.add_option_function<std::string>("--samplers", set_samplers, "Steps in order, separated by commas")
      ->type_name("NAMES");
}

void AddSampling(CLI::App& app, sample::SamplingParams& out) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  AddReal(app, "--temp", out.temperature, "Temperature, 0 to 2; 0 takes the most likely token [0.8]");
  AddCount(
      app, "--top-k", -1, kMax, [&out](int64_t n) { out.top_k = n; },
      "Keep the N most likely tokens; 0 keeps all [40]");
  AddReal(app, "--top-p", out.top_p, "Keep the most likely tokens up to this probability together [0.95]");
  AddReal(app, "--min-p", out.min_p, "Keep tokens at least this likely, as a share of the most likely one [0.05]");
  AddReal(app, "--repeat-penalty", out.repetition_penalty, "Divides the logits of tokens seen before; 1 is off [1]");
  AddCount(
      app, "--repeat-last-n", -1, kMax, [&out](int64_t n) { out.repeat_last_n = n; },
      "How many tokens back --repeat-penalty looks; -1: all [64]");
  AddReal(app, "--presence-penalty", out.presence_penalty, "Taken off the logits of tokens of the answer, -2 to 2 [0]");
  AddReal(app, "--frequency-penalty", out.frequency_penalty, "The same, for each time they occur, -2 to 2 [0]");
  AddMoreSampling(app, out);
}

void AddRun(CLI::App& app, RunOptions& out) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  AddModel(app, out.model);
  AddText(app, "PROMPT", out.prompt, "What to say; what stdin holds comes after it. Without: a talk", "");
  AddText(app, "--system", out.system, "System message [the template's own]");
  AddSampling(app, out.sampling);
  AddCount(
      app, "--seed", kMin, kMax, [&out](int64_t n) { out.seed = n; }, "Seed of the random numbers [random]");
  AddCount(
      app, "--ctx", 1, kMax, [&out](int64_t n) { out.context_length = n; },
      "Context in tokens, prompt and answer [the model's, or what fits]");
  AddCount(
      app, "-n,--max-tokens", -1, kMax, [&out](int64_t n) { out.max_tokens = n; },
      "Most tokens of an answer; -1: until the context is full [-1]");
  AddEngine(app, out.engine);
  app.add_flag("--raw", out.raw, "Leave out the chat template: the prompt is the whole text, control tokens included");
  app.add_flag("--ignore-eos", out.ignore_eos, "Go on after the token that ends an answer");
  app.add_flag("--verbose", out.verbose, "Report times, rates, memory and seed on stderr");
}

void AddShow(CLI::App& app, ShowOptions& out) {
  AddModel(app, out.model);
  app.add_flag("--tensors", out.tensors, "List the tensors: name, type, size, shape (outermost dimension first)");
  app.add_flag("--metadata", out.metadata, "List all keys; long values are cut");
  app.add_flag("--template", out.chat_template, "Print the chat template and nothing else");
  app.add_flag("--json", out.json, "Everything as JSON; long arrays are cut unless --metadata is given too");
}

void AddTokenize(CLI::App& app, TokenizeOptions& out) {
  AddModel(app, out.model);
  CLI::Option* text = AddText(app, "TEXT", out.text, "Text to encode [stdin]", "");
  CLI::Option* file = AddText(app, "--file", out.file, "Read the text from a file; - is stdin", "FILE");
  app.add_flag("--special", out.special, "Read control tokens such as <|im_end|> in the text as such");
  app.add_flag("--add-special", out.add_special, "Add what the model expects at the ends (BOS, EOS)");
  CLI::Option* json = app.add_flag("--json", out.json, R"(Answer {"ids":[...],"pieces":[...]})");
  CLI::Option* lines =
      app.add_flag("--jsonl", out.json_lines, R"(Answer each line {"text":...} or {"hex":...} with {"ids":[...]})");
  text->excludes(file)->excludes(lines);
  json->excludes(lines);
}

void AddDetokenize(CLI::App& app, DetokenizeOptions& out) {
  AddModel(app, out.model);
  CLI::Option* ids = app.add_option("IDS", out.ids, "Token ids, separated by spaces or commas [stdin]")->type_name("");
  CLI::Option* file = AddText(app, "--file", out.file, "Read the ids from a file; - is stdin", "FILE");
  app.add_flag("--special", out.special, "Give control tokens as their text");
  CLI::Option* json = app.add_flag("--json", out.json, R"(Answer {"text":...,"hex":...})");
  CLI::Option* lines =
      app.add_flag("--jsonl", out.json_lines, R"(Answer each line {"ids":[...]} with {"text":...,"hex":...})");
  ids->excludes(file)->excludes(lines);
  json->excludes(lines);
}

void AddTemplate(CLI::App& app, TemplateOptions& out) {
  app.add_option("SOURCE", out.source, "A .gguf model, a file with a template, or - for stdin")
      ->required()
      ->type_name("");
  AddText(app, "--context", out.context_file, "JSON object with the variables; - is stdin [none]", "FILE");
  const auto set_now = [&out](const std::string& text) { out.now = ValueOrThrow(ParseDateTime(text), "--now"); };
  app.add_option_function<std::string>("--now", set_now, "What the clock shows: 2024-07-26T12:34:56 [the time it is]")
      ->type_name("TIME");
}

void AddLogits(CLI::App& app, LogitsOptions& out) {
  AddModel(app, out.model);
  CLI::Option* tokens = AddText(app, "--tokens", out.tokens, "Token ids, separated by commas or spaces", "IDS");
  CLI::Option* file = AddText(app, "--tokens-file", out.tokens_file, "Read the ids from a file; - is stdin", "FILE");
  tokens->excludes(file);
  app.add_option("-o,--output", out.output, "safetensors file for the F32 tensor 'logits' [positions, vocabulary]")
      ->required()
      ->type_name("FILE");
  app.add_flag("--all", out.all, "Logits of all positions [of the last alone]");
  AddCount(
      app, "--chunk", 1, 65536, [&out](int64_t n) { out.chunk = n; },
      "Tokens of one pass [512, fewer for huge outputs]");
  AddEngine(app, out.engine);
}

void AddEmbed(CLI::App& app, EmbedOptions& out) {
  AddModel(app, out.model);
  CLI::Option* texts = app.add_option("TEXT", out.texts, "Texts, each an argument [the lines of stdin]")->type_name("");
  CLI::Option* file = AddText(app, "--file", out.file, "Take each line of a file as a text; - is stdin", "FILE");
  texts->excludes(file);
  AddText(app, "--pooling", out.pooling, "mean, cls, last, or none: one for each token [the model's, else mean]",
          "NAME")
      ->check([](const std::string& text) { return engine::ParsePooling(text).status().message(); });
  app.add_flag("--normalize", out.normalize, "Scale each embedding to length 1");
  app.add_flag("--truncate", out.truncate, "Cut texts that are longer than the model's context");
  app.add_flag("--ids", out.ids, "Texts are token ids, as tokenize gives them");
  app.add_flag("--json", out.json, R"(Answer each text with {"index":...,"tokens":...,"embedding":[...]})");
  AddEngine(app, out.engine);
}

// A flag with a real number that is kept as `scale` times what is given.
void AddScaled(CLI::App& app, const std::string& names, double scale, double& out, const std::string& help) {
  app.add_option_function<double>(
         names, [&out, scale](const double& value) { out = value * scale; }, help)
      ->type_name("X");
}

// A flag whose text `parse` understands.
template <typename T, typename Out>
void AddParsed(CLI::App& app, const std::string& names, Result<T> (*parse)(std::string_view), Out& out,
               const std::string& help, const char* type) {
  app.add_option_function<std::string>(
         names, [=, &out](const std::string& text) { out = ValueOrThrow(parse(text), names); }, help)
      ->type_name(type);
}

void AddLoad(CLI::App& app, BenchOptions& out) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  AddText(app, "--dataset", out.dataset, "random, chat (log-normal lengths), or a JSONL trace; - is stdin [random]",
          "NAME");
  AddCount(
      app, "--num-prompts", 1, kMax, [&out](int64_t n) { out.num_prompts = n; }, "Requests [100; a trace: all]");
  AddReal(app, "--request-rate", out.workload.requests_per_s,
          "Arrivals of first turns a second; inf: all at once [inf]");
  AddReal(app, "--burstiness", out.workload.burstiness, "Shape of the gaps: 1 is Poisson, below 1 burstier [1]");
  AddParsed(app, "--input-len", &sched::LengthDistribution::Parse, out.input_len,
            "New prompt tokens: N, uniform:LOW:HIGH or lognormal:MEDIAN:SIGMA[:LOW:HIGH] [512]", "LENGTH");
  AddParsed(app, "--output-len", &sched::LengthDistribution::Parse, out.output_len, "Tokens of answers [128]",
            "LENGTH");
  AddCount(
      app, "--shared-prefix", 0, kMax, [&out](int64_t n) { out.workload.shared_prefix_tokens = n; },
      "Tokens that prompts of a group begin with [0]");
  AddCount(
      app, "--prefix-groups", 1, kMax, [&out](int64_t n) { out.workload.num_prefix_groups = n; }, "Groups [1]");
  AddCount(
      app, "--turns", 1, kMax, [&out](int64_t n) { out.workload.turns = n; }, "Requests of a conversation [1]");
  AddReal(app, "--think-time", out.workload.think_s, "Mean seconds from an answer to the next turn [0]");
  AddParsed(app, "--tenants", &sched::ParseTenants, out.workload.tenants,
            "How many, or NAME:SHARE[:WEIGHT] between commas [1]", "TENANTS");
  AddCount(
      app, "--priorities", 1, 1000, [&out](int64_t n) { out.workload.num_priorities = static_cast<int32_t>(n); },
      "Priorities 0..N-1, evenly drawn [1]");
  AddCount(
      app, "--seed", 0, kMax, [&out](int64_t n) { out.workload.seed = static_cast<uint64_t>(n); },
      "Seed of the load [0]");
  AddParsed(app, "--slo", &sched::ParseObjectives, out.objectives,
            "Objectives in ms, ttft:X,tpot:X: counts what meets them", "SLO");
}

void AddScheduling(CLI::App& app, BenchOptions& out) {
  constexpr int64_t kMax = 1 << 30;
  sched::SchedulerOptions& scheduler = out.scheduler;
  AddParsed(app, "--policy", &sched::ParsePolicy, scheduler.policy, "fcfs, priority, sjf, lpm, fair or deadline [fcfs]",
            "NAME");
  AddParsed(app, "--batching", &sched::ParseBatching, scheduler.batching, "continuous or static [continuous]", "NAME");
  app.add_flag_callback(
      "--no-chunked-prefill", [&] { scheduler.chunked_prefill = false; }, "Run prompts whole");
  app.add_flag_callback(
      "--no-prefix-cache", [&] { scheduler.prefix_cache = false; }, "Compute every prompt whole");
  AddCount(
      app, "--max-num-seqs", 1, kMax, [&](int64_t n) { scheduler.max_num_seqs = n; }, "Sequences at once [64]");
  AddCount(
      app, "--max-num-batched-tokens", 1, kMax, [&](int64_t n) { scheduler.max_batch_tokens = n; },
      "Tokens of a step [512]");
  AddScaled(app, "--itl-target-ms", 1e-3, scheduler.itl_target_s,
            "Keep chunks so small that steps with decodes take no longer [0: off]");
  AddCount(
      app, "--max-queued-requests", 0, kMax, [&](int64_t n) { scheduler.max_queued_requests = n; },
      "Refuse more that wait; 0: no limit [0]");
  CLI::Option* tokens = AddCount(
      app, "--kv-tokens", 1, kMax, [&out](int64_t n) { out.kv_tokens = n; }, "Tokens that the cache holds");
  CLI::Option* pages = AddCount(
      app, "--pages", 1, kMax, [&out](int64_t n) { out.pages = n; }, "The same in pages");
  tokens->excludes(pages);
  AddCount(
      app, "--block-size", 1, 1024, [&](int64_t n) { scheduler.groups.block_size = n; }, "Tokens of a page [16]");
}

void AddReport(CLI::App& app, BenchOptions& out) {
  const auto set_format = [&out](const std::string& name) {
    out.format = name == "json" ? ReportFormat::kJson : name == "html" ? ReportFormat::kHtml : ReportFormat::kMarkdown;
  };
  app.add_option_function<std::string>("-o,--output-format", set_format, "md, json or html [md]")
      ->check(CLI::IsMember({"md", "json", "html"}))
      ->type_name("FORMAT");
  AddText(app, "--output-file", out.output_file, "Write the report there [stdout]", "FILE");
  app.add_flag("--ablate", out.ablate, "Run again without each technique: what each is worth");
  AddCount(
      app, "--repeat", 1, 1000, [&out](int64_t n) { out.repeat = n; }, "Runs of each, for medians [1]");
}

void AddBenchSimulate(CLI::App& app, BenchSimulateOptions& out) {
  AddLoad(app, out.bench);
  AddCount(
      app, "--max-tokens", 0, std::numeric_limits<int64_t>::max(),
      [&out](int64_t n) { out.bench.workload.declared_tokens = n; },
      "What requests declare; 0: what their answer will have [0]");
  AddScheduling(app, out.bench);
  AddParsed(app, "--cost", &sched::ParseStepCost, out.cost,
            "Step: BASE_MS,PREFILL_US,DECODE_US,CONTEXT_NS [10,200,250,100]", "COST");
  AddReport(app, out.bench);
}

void AddBenchThroughput(CLI::App& app, BenchThroughputOptions& out) {
  AddModel(app, out.model);
  AddLoad(app, out.bench);
  AddScheduling(app, out.bench);
  AddReport(app, out.bench);
  AddEngine(app, out.engine);
}

void AddBatch(CLI::App& app, BatchOptions& out) {
  constexpr int64_t kMax = 1 << 30;
  sched::SchedulerOptions& scheduler = out.scheduler;
  app.add_option("IN", out.input, "File of requests, a JSON object on each line")->required()->type_name("");
  app.add_option("OUT", out.output, "File for the results; what it holds already is not done again")
      ->required()
      ->type_name("");
  AddModel(app, out.model);
  app.add_flag("--overwrite", out.overwrite, "Start anew: let go what OUT holds");
  AddCount(
      app, "--ctx", 1, std::numeric_limits<int64_t>::max(), [&out](int64_t n) { out.context_length = n; },
      "Context of a request in tokens, prompt and answer [the model's]");
  AddCount(
      app, "-n,--max-tokens", 0, kMax, [&out](int64_t n) { out.max_tokens = n; },
      "Most tokens of answers to requests that do not say [chats: the context's; completions: 16]");
  AddCount(
      app, "--max-num-seqs", 1, kMax, [&](int64_t n) { scheduler.max_num_seqs = n; }, "Sequences at once [64]");
  AddCount(
      app, "--max-num-batched-tokens", 1, kMax, [&](int64_t n) { scheduler.max_batch_tokens = n; },
      "Tokens of a step [512]");
  AddCount(
      app, "--kv-tokens", 1, kMax, [&out](int64_t n) { out.kv_tokens = n; },
      "Tokens that the cache holds [2048 for each sequence, if they fit]");
  AddParsed(app, "--scheduling-policy", &sched::ParsePolicy, scheduler.policy,
            "fcfs, priority, sjf, lpm, fair or deadline [fcfs]", "NAME");
  AddEngine(app, out.engine);
}

// The whole command line; the options of every command live here until one is chosen.
class Parser {
 public:
  Parser() : app_("LLM inference engine", "adit") {
    app_.option_defaults()->take_last();
    app_.require_subcommand(0, 1);
    app_.get_formatter()->column_width(28);
    app_.add_flag("--version", version_, "Print the version");
    app_.footer("'adit COMMAND --help' tells about a command; docs/cli.md about them all.");
    Add("run", "Answer a prompt, or talk", &AddRun);
    Add("show", "What is in a model file", &AddShow);
    Add("tokenize", "Text to token ids", &AddTokenize);
    Add("detokenize", "Token ids to text", &AddDetokenize);
    Add("template", "Render a chat template", &AddTemplate);
    Add("logits", "Write the logits of given tokens to a file", &AddLogits);
    Add("embed", "Embeddings of texts", &AddEmbed);
    Add("batch", "Answer a file of requests", &AddBatch);
    CLI::App* bench = app_.add_subcommand("bench", "Measure serving under load")->require_subcommand(0, 1);
    Add("simulate", "Try schedulers in virtual time, without a model", &AddBenchSimulate, bench);
    Add("throughput", "Serve a load with a model, in real time", &AddBenchThroughput, bench);
    Add(
        "doctor", "Machine, kernels and memory", +[](CLI::App&, DoctorOptions&) {});
    Add(
        "version", "Print the version", +[](CLI::App&, VersionOptions&) {});
  }

  Result<CommandLine> Parse(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
      return CommandLine{.command = std::nullopt, .text = app_.help()};
    } catch (const CLI::ExtrasError&) {
      return NotUnderstood();
    } catch (const CLI::ParseError& error) {
      return InvalidArgument("{}{}; see '{} --help'", Prefix(), OneLine(error.what()), HelpCommand());
    }
    if (version_) return CommandLine{.command = VersionOptions{}, .text = {}};
    if (!chosen_) return InvalidArgument("{}no command given; see '{} --help'", Prefix(), HelpCommand());
    return Check(chosen_());
  }

 private:
  // One command: its flags fill an options struct that becomes the result if the command is the one given.
  // `parent`: the command that it belongs to, null for adit itself.
  template <typename Options>
  void Add(const char* name, const char* help, void (*add_flags)(CLI::App&, Options&), CLI::App* parent = nullptr) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = (parent != nullptr ? parent : &app_)->add_subcommand(name, help);
    add_flags(*command, *options);
    command->callback([this, options] { chosen_ = [options] { return Command(*options); }; });
  }

  // What flags alone cannot say about each other.
  static Result<CommandLine> Check(Command command) {
    if (const auto* logits = std::get_if<LogitsOptions>(&command); logits && !logits->tokens && !logits->tokens_file) {
      return InvalidArgument("logits: --tokens or --tokens-file is required; see 'adit logits --help'");
    }
    if (const auto* render = std::get_if<TemplateOptions>(&command);
        render && render->source == "-" && render->context_file == "-") {
      return InvalidArgument("template: the template and its context cannot both come from stdin");
    }
    return CommandLine{.command = std::move(command), .text = {}};
  }

  // The innermost command that was given; adit itself when none was.
  const CLI::App& Chosen() const {
    const CLI::App* app = &app_;
    for (auto commands = app->get_subcommands(); !commands.empty(); commands = app->get_subcommands()) {
      app = commands.front();
    }
    return *app;
  }
  // Its name with those of the commands around it.
  std::string ChosenName() const {
    std::string name;
    for (const CLI::App* app = &Chosen(); app != &app_; app = app->get_parent()) {
      name = app->get_name() + (name.empty() ? "" : " " + name);
    }
    return name;
  }
  std::string Prefix() const { return ChosenName().empty() ? std::string() : ChosenName() + ": "; }
  std::string HelpCommand() const { return ChosenName().empty() ? "adit" : "adit " + ChosenName(); }

  // Arguments were left over: an unknown command, an unknown flag, or one argument too many.
  Status NotUnderstood() const {
    const std::vector<std::string> rest = app_.remaining(/*recurse=*/true);
    const std::string word = rest.empty() ? std::string() : rest.front().substr(0, rest.front().find('='));
    const bool is_flag = word.starts_with('-') && word.size() > 1;
    const CLI::App& app = Chosen();
    std::vector<std::string> known;
    if (is_flag) {
      for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    } else {
      for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(command->get_name());
      }
    }
    const char* what = is_flag ? "unknown flag" : !known.empty() ? "unknown command" : "one argument too many:";
    const std::string_view nearest = NearestWord(word, known);
    const std::string hint = nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest);
    return InvalidArgument("{}{} '{}'{}; see '{} --help'", Prefix(), what, OneLine(word, kMaxShownBytes), hint,
                           HelpCommand());
  }

  CLI::App app_;
  bool version_ = false;
  std::function<Command()> chosen_;
};

}  // namespace

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv) { return Parser().Parse(argc, argv); }

}  // namespace adit::cli
