#include "cli/talk_flags.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/command_flags.h"
#include "cli/printable.h"
#include "cli/suggest.h"

namespace adit::cli {
namespace {

std::vector<std::string> NamesOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_lnames().empty()) names.push_back(option->get_lnames().back());
  }
  return names;
}

}  // namespace

Status SetTalkFlag(const std::string& name, const std::string& value, RunOptions& options) {
  CLI::App app;
  app.set_help_flag();
  app.option_defaults()->take_last();
  AddTalk(app, options);
  const std::vector<std::string> names = NamesOf(app);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    const std::string_view nearest = NearestWord(name, names);
    return InvalidArgument("nothing to set is called '{}'{}; /set lists the names", OneLine(name, kMaxShownBytes),
                           nearest.empty() ? std::string() : fmt::format(" (did you mean '{}'?)", nearest));
  }
  try {
    app.parse(std::vector<std::string>{"--" + name + "=" + value});
  } catch (const CLI::Error& error) {
    return InvalidArgument("{}", OneLine(error.what()));
  }
  return Status();
}

std::string TalkFlagHelp() {
  CLI::App app;
  app.set_help_flag();
  RunOptions options;
  AddTalk(app, options);
  std::string text;
  for (const CLI::Option* option : app.get_options()) {
    const bool is_switch = option->get_items_expected_max() == 0;
    text += fmt::format("{:<22} {}\n",
                        option->get_lnames().back() + (is_switch ? " on|off" : " " + option->get_type_name()),
                        option->get_description());
  }
  return text;
}

}  // namespace adit::cli
