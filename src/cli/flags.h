#ifndef ADIT_CLI_FLAGS_H_
#define ADIT_CLI_FLAGS_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "cli/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// The kinds of flags that commands have. The library that parses them takes long to compile: it is included by flags.cc
// and command_line.cc alone.
namespace adit::cli {

// A flag whose text `read` understands; its error is told with the flag's name.
CLI::Option* AddRead(CLI::App& app, const std::string& names, std::function<Status(const std::string&)> read,
                     const std::string& help, const char* type);

// A positional, or a flag with one value. An empty value is one too.
CLI::Option* AddText(CLI::App& app, const std::string& names, std::optional<std::string>& out, const std::string& help,
                     const char* type = "TEXT");
CLI::Option* AddText(CLI::App& app, const std::string& names, std::string& out, const std::string& help,
                     const char* type);
// A positional or flag that must be given.
void AddRequired(CLI::App& app, const std::string& names, std::string& out, const std::string& help,
                 const char* type = "");
void AddModel(CLI::App& app, std::string& out);
void AddModels(CLI::App& app, std::vector<std::string>& out);
// Any number of values: positionals one after the other, flags by giving them again.
CLI::Option* AddList(CLI::App& app, const std::string& names, std::vector<std::string>& out, const std::string& help,
                     const char* type = "");
// One of some words.
CLI::Option* AddWord(CLI::App& app, const std::string& names, std::initializer_list<const char*> words,
                     std::function<void(const std::string&)> set, const std::string& help, const char* type);

// A flag without a value.
CLI::Option* AddSwitch(CLI::App& app, const std::string& names, bool& out, const std::string& help);
CLI::Option* AddSwitch(CLI::App& app, const std::string& names, std::function<void()> set, const std::string& help);

// A whole number in [low, high].
CLI::Option* AddCount(CLI::App& app, const std::string& names, int64_t low, int64_t high,
                      const std::function<void(int64_t)>& set, const std::string& help);
void AddReal(CLI::App& app, const std::string& names, double& out, const std::string& help);
// A real number that is kept as `scale` times what is given.
void AddScaled(CLI::App& app, const std::string& names, double scale, double& out, const std::string& help);

// A flag whose text `parse` makes a value of.
template <typename T, typename Out>
void AddParsed(CLI::App& app, const std::string& names, Result<T> (*parse)(std::string_view), Out& out,
               const std::string& help, const char* type) {
  const auto read = [parse, &out](const std::string& text) {
    Result<T> value = parse(text);
    if (!value.ok()) return value.status();
    out = std::move(value).value();
    return Status();
  };
  AddRead(app, names, read, help, type);
}

// The two cannot be given together.
void Exclude(CLI::Option* a, CLI::Option* b);

// Whole numbers between commas, each in [low, high].
void AddCounts(CLI::App& app, const std::string& names, int64_t low, int64_t high, std::vector<int64_t>& out,
               const std::string& help);
// Words between commas. Never fails.
Result<std::vector<std::string>> SplitAtCommas(std::string_view text);

// What commands that run a model share; and the same but for its threads.
void AddEngine(CLI::App& app, EngineOptions& out);
void AddKernelChoice(CLI::App& app, EngineOptions& out);

}  // namespace adit::cli

#endif  // ADIT_CLI_FLAGS_H_
