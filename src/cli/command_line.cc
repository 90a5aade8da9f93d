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

CLI::Option* AddModel(CLI::App& app, std::string& out) {
  return app.add_option("MODEL", out, kModelHelp)->required()->type_name("");
}

// A flag with a whole number in [low, high].
void AddCount(CLI::App& app, const std::string& names, int64_t low, int64_t high,
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
  app.add_option_function<std::string>(names, parse, help)->type_name("N");
}

void AddReal(CLI::App& app, const std::string& names, double& out, const std::string& help) {
  app.add_option(names, out, help)->type_name("X");
}

void AddEngine(CLI::App& app, EngineOptions& out) {
  AddCount(
      app, "--threads", 1, WorkerTeam::kMaxWorkers, [&out](int64_t n) { out.threads = static_cast<int>(n); },
      "Threads [ADIT_THREADS, else one for each CPU]");
  AddText(app, "--isa", out.isa, "Kernel set: auto, ref, avx2 or avx512 [ADIT_ISA, else auto]", "NAME");
  AddText(app, "--kv-type", out.kv_type, "Type of cached keys and values [what the kernels do best]", "TYPE")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  AddText(app, "--activation-terms", out.activation_terms,
          "8-bit terms of activations: one, two, or two where rows are normed [two for narrow models]", "N")
      ->check(CLI::IsMember({"one", "normed", "two"}));
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
    if (app_.get_subcommands().empty()) return InvalidArgument("no command given; see 'adit --help'");
    return Check(chosen_());
  }

 private:
  // One command: its flags fill an options struct that becomes the result if the command is the one given.
  template <typename Options>
  void Add(const char* name, const char* help, void (*add_flags)(CLI::App&, Options&)) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = app_.add_subcommand(name, help);
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

  const CLI::App* Chosen() const {
    const std::vector<CLI::App*> commands = app_.get_subcommands();
    return commands.empty() ? nullptr : commands.front();
  }
  std::string Prefix() const { return Chosen() != nullptr ? Chosen()->get_name() + ": " : std::string(); }
  std::string HelpCommand() const { return Chosen() != nullptr ? "adit " + Chosen()->get_name() : "adit"; }

  // Arguments were left over: an unknown command, an unknown flag, or one argument too many.
  Status NotUnderstood() const {
    const std::vector<std::string> rest = app_.remaining(/*recurse=*/true);
    const std::string word = rest.empty() ? std::string() : rest.front().substr(0, rest.front().find('='));
    const bool is_flag = word.starts_with('-') && word.size() > 1;
    std::vector<std::string> known;
    if (is_flag) {
      const CLI::App& app = Chosen() != nullptr ? *Chosen() : app_;
      for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      }
    } else if (Chosen() == nullptr) {
      for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; })) {
        known.push_back(command->get_name());
      }
    }
    const char* what = is_flag ? "unknown flag" : Chosen() == nullptr ? "unknown command" : "one argument too many:";
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
