#include "cli/flags.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/worker_team.h"
#include "cli/machine_bench.h"
#include "cli/units.h"
#include "engine/kv_types.h"
#include "engine/weight_choice.h"

namespace adit::cli {
namespace {

constexpr const char* kModelHelp =
    "Model: the path of a .gguf file or of a Hugging Face folder, or a fetched model's name";

}  // namespace

CLI::Option* AddRead(CLI::App& app, const std::string& names, std::function<Status(const std::string&)> read,
                     const std::string& help, const char* type) {
  const auto parse = [names, read = std::move(read)](const std::string& text) {
    const Status status = read(text);
    // ParseCommandLine catches what CLI11 throws for a bad value.
    if (!status.ok()) throw CLI::ValidationError(names, status.message());
  };
  return app.add_option_function<std::string>(names, parse, help)->type_name(type);
}

CLI::Option* AddText(CLI::App& app, const std::string& names, std::optional<std::string>& out, const std::string& help,
                     const char* type) {
  const auto set = [&out](const std::string& text) { out = text; };
  return app.add_option_function<std::string>(names, set, help)->type_name(type);
}

CLI::Option* AddText(CLI::App& app, const std::string& names, std::string& out, const std::string& help,
                     const char* type) {
  return app.add_option(names, out, help)->type_name(type);
}

void AddRequired(CLI::App& app, const std::string& names, std::string& out, const std::string& help, const char* type) {
  app.add_option(names, out, help)->required()->type_name(type);
}

void AddModel(CLI::App& app, std::string& out) { AddRequired(app, "MODEL", out, kModelHelp); }

void AddModels(CLI::App& app, std::vector<std::string>& out) { AddList(app, "MODEL", out, kModelHelp)->required(); }

CLI::Option* AddList(CLI::App& app, const std::string& names, std::vector<std::string>& out, const std::string& help,
                     const char* type) {
  CLI::Option* option = app.add_option(names, out, help)->type_name(type);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  // What follows the value of a flag is not another one.
  if (names.starts_with('-')) option->allow_extra_args(false);
  return option;
}

CLI::Option* AddWord(CLI::App& app, const std::string& names, std::initializer_list<const char*> words,
                     std::function<void(const std::string&)> set, const std::string& help, const char* type) {
  const std::vector<std::string> known(words.begin(), words.end());
  return app.add_option_function<std::string>(names, std::move(set), help)
      ->check(CLI::IsMember(known))
      ->type_name(type);
}

CLI::Option* AddSwitch(CLI::App& app, const std::string& names, bool& out, const std::string& help) {
  return app.add_flag(names, out, help);
}

CLI::Option* AddSwitch(CLI::App& app, const std::string& names, std::function<void()> set, const std::string& help) {
  return app.add_flag_callback(names, std::move(set), help);
}

CLI::Option* AddCount(CLI::App& app, const std::string& names, int64_t low, int64_t high,
                      const std::function<void(int64_t)>& set, const std::string& help) {
  const auto read = [=](const std::string& text) -> Status {
    ADIT_ASSIGN_OR_RETURN(const int64_t value, ParseCount(text));
    if (value >= low && value <= high) {
      set(value);
      return Status();
    }
    if (high == std::numeric_limits<int64_t>::max()) return InvalidArgument("{} is below {}", value, low);
    return InvalidArgument("{} is not in {}..{}", value, low, high);
  };
  return AddRead(app, names, read, help, "N");
}

void AddReal(CLI::App& app, const std::string& names, double& out, const std::string& help) {
  app.add_option(names, out, help)->type_name("X");
}

void AddScaled(CLI::App& app, const std::string& names, double scale, double& out, const std::string& help) {
  const auto set = [&out, scale](const double& value) { out = value * scale; };
  app.add_option_function<double>(names, set, help)->type_name("X");
}

void Exclude(CLI::Option* a, CLI::Option* b) { a->excludes(b); }

void AddCounts(CLI::App& app, const std::string& names, int64_t low, int64_t high, std::vector<int64_t>& out,
               const std::string& help) {
  const auto read = [=, &out](const std::string& text) -> Status {
    ADIT_ASSIGN_OR_RETURN(out, ParseCounts(text, low, high));
    return Status();
  };
  AddRead(app, names, read, help, "N,...");
}

Result<std::vector<std::string>> SplitAtCommas(std::string_view text) {
  std::vector<std::string> words;
  for (size_t end; (end = text.find(',')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    words.emplace_back(text.substr(0, end));
  }
  words.emplace_back(text);
  return words;
}

void AddKernelChoice(CLI::App& app, EngineOptions& out) {
  AddText(app, "--isa", out.isa, "Kernel set: auto, ref, avx2 or avx512 [ADIT_ISA, else auto]", "NAME");
  CLI::Option* dtype = AddText(app, "--dtype", out.dtype,
                               "Type that float weights are held in: auto (as stored), f32, f16, bf16 [auto]", "TYPE");
  CLI::Option* quantization =
      AddText(app, "--quantization", out.quantization,
              "Quantise float weights while loading: q8_0, q4_0, q4_1, q5_0, q5_1, q2_k, q3_k, q4_k, q5_k, q6_k, "
              "iq4_nl, iq4_xs, mxfp4, tq1_0, tq2_0 [none]",
              "TYPE");
  dtype->check([](const std::string& text) { return engine::WeightTypesFor(text, std::nullopt).status().message(); });
  quantization->excludes(dtype)->check(
      [](const std::string& text) { return engine::WeightTypesFor(std::nullopt, text).status().message(); });
  AddText(app, "--kv-type", out.kv_type,
          "Type of cached keys and values, or K,V for each: f32, f16, bf16, q8_0, q4_0, fp8 [what the kernels do best]",
          "TYPE")
      ->check([](const std::string& text) { return engine::ParseKvTypes(text).status().message(); });
  AddText(app, "--activation-terms", out.activation_terms,
          "8-bit terms of activations: one, two, or two where outliers need it [by width]", "N")
      ->check(CLI::IsMember({"one", "outliers", "two"}));
}

void AddEngine(CLI::App& app, EngineOptions& out) {
  AddCount(
      app, "--threads", 1, WorkerTeam::kMaxWorkers, [&out](int64_t n) { out.threads = static_cast<int>(n); },
      "Threads [ADIT_THREADS, else one for each CPU]");
  AddSwitch(
      app, "--no-bind-threads", [&out] { out.bind_threads = false; }, "Let the system move threads between CPUs");
  AddKernelChoice(app, out);
}

}  // namespace adit::cli
