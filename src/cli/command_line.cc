#include "cli/command_line.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/command_flags.h"
#include "cli/command_tree.h"
#include "cli/printable.h"
#include "cli/suggest.h"

namespace adit::cli {
namespace {

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
    Add("serve", "Answer requests over HTTP, as OpenAI's clients make them", &AddServe);
    Add("batch", "Answer a file of requests", &AddBatch);
    CLI::App* bench =
        app_.add_subcommand("bench", "Measure this machine, a model, or serving under load")->require_subcommand(0, 1);
    Add("simulate", "Try schedulers in virtual time, without a model", &AddBenchSimulate, bench);
    Add("throughput", "Serve a load with a model, in real time", &AddBenchThroughput, bench);
    Add("serve", "Load a server, and compare it with another", &AddBenchServe, bench);
    Add("embed", "Embeddings of texts", &AddEmbed);
    Add("convert", "Write a model as a GGUF file", &AddConvert);
    Add("quantize", "Write a model with fewer bits a weight", &AddQuantize);
    Add("imatrix", "Find out which columns of a model's weights count most", &AddImatrix);
    Add("model", "Prompt and generation speed of a model, and its share of the limit", &AddBenchModel, bench);
    Add("startup", "Time from nothing to a first token", &AddBenchStartup, bench);
    Add("kernels", "Matrix products of each type against the limits", &AddBenchKernels, bench);
    Add("roofline", "What this machine can read and multiply", &AddBenchRoofline, bench);
    CLI::App* eval = app_.add_subcommand("eval", "How good a model's predictions are")->require_subcommand(0, 1);
    Add("perplexity", "How well a model predicts a text", &AddEvalPerplexity, eval);
    Add("kld", "How far its predictions are from those of a base", &AddEvalKld, eval);
    Add("hellaswag", "How often it chooses the right ending of a scene", &AddEvalHellaSwag, eval);
    Add("mmlu", "How often it chooses the right letter of a question", &AddEvalMmlu, eval);
    Add("gsm8k", "How often its reasoning ends in the right number", &AddEvalGsm8k, eval);
    Add("needle", "How often it finds a sentence hidden in a long text", &AddEvalNeedle, eval);
    Add("pull", "Fetch a model from a hub", &AddPull);
    Add("list", "The models that were fetched", &AddListModels)->alias("ls");
    Add("rm", "Remove models that were fetched, or other names of some", &AddRemove);
    Add("cp", "Give a model another name", &AddCopy);
    Add("ps", "The models of a server that runs", &AddPs);
    Add("stop", "Unload a model of a server that runs", &AddStop);
    Add(
        "doctor", "Machine, kernels and memory", +[](CLI::App&, DoctorOptions&) {});
    Add(
        "version", "Print the version", +[](CLI::App&, VersionOptions&) {});
    Add("completion", "Print a script that completes adit's command lines", &AddCompletion);
    Add(
        "manual", "Print the manual page, for man -l", +[](CLI::App&, ManualOptions&) {});
  }

  const CLI::App& app() const { return app_; }

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
  CLI::App* Add(const char* name, const char* help, void (*add_flags)(CLI::App&, Options&),
                CLI::App* parent = nullptr) {
    const auto options = std::make_shared<Options>();
    CLI::App* command = (parent != nullptr ? parent : &app_)->add_subcommand(name, help);
    add_flags(*command, *options);
    command->callback([this, options, command] {
      if constexpr (std::is_same_v<Options, RunOptions>) options->flags = FlagsGiven(*command);
      chosen_ = [options] { return Command(*options); };
    });
    return command;
  }

  static std::vector<std::string> FlagsGiven(const CLI::App& command) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command.get_options()) {
      if (option->count() > 0) names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    }
    return names;
  }

  // What flags alone cannot say about each other.
  static Result<CommandLine> Check(Command command) {
    if (const auto* logits = std::get_if<LogitsOptions>(&command); logits && !logits->tokens && !logits->tokens_file) {
      return InvalidArgument("logits: --tokens or --tokens-file is required; see 'adit logits --help'");
    }
    if (const auto* completion = std::get_if<CompletionOptions>(&command); completion && completion->shell.empty()) {
      return InvalidArgument("completion: SHELL is required: bash, zsh or fish; see 'adit completion --help'");
    }
    if (const auto* remove = std::get_if<RemoveOptions>(&command); remove && remove->names.empty()) {
      return InvalidArgument("rm: MODEL is required; see 'adit rm --help'");
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

// The words of a value that a check allows: CLI11 tells them as "TYPE:{a,b}".
std::vector<std::string> WordsOf(const std::string& type_name) {
  const size_t begin = type_name.find('{');
  const size_t end = type_name.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end <= begin) return {};
  return *SplitAtCommas(std::string_view(type_name).substr(begin + 1, end - begin - 1));
}

FlagText DescribeFlag(const CLI::Option& option) {
  FlagText flag{.help = option.get_description()};
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    flag.type = type.substr(0, type.find(':'));
    if (flag.type.empty()) flag.type = "VALUE";
    flag.words = WordsOf(type);
  }
  return flag;
}

CommandTree Describe(const CLI::App& app) {
  CommandTree tree{.name = app.get_name(), .help = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) {
      tree.flags.push_back(DescribeFlag(*option));
    } else {
      tree.arguments.push_back(
          {option->get_name(/*positional=*/true), option->get_description(), option->get_required()});
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    tree.commands.push_back(Describe(*command));
  }
  return tree;
}

}  // namespace

CommandTree DescribeCommandLine() { return Describe(Parser().app()); }

Result<CommandLine> ParseCommandLine(int argc, const char* const* argv) { return Parser().Parse(argc, argv); }

}  // namespace adit::cli
