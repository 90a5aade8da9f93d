// adit completion.
#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

#include "cli/command_tree.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/output.h"

namespace adit::cli {
namespace {

// A command with the names of those around it, "bench model".
struct Place {
  std::string path;
  const CommandTree* command;
};

void Collect(const CommandTree& command, const std::string& path, std::vector<Place>& out) {
  out.push_back({path, &command});
  for (const CommandTree& child : command.commands) {
    Collect(child, path.empty() ? child.name : path + " " + child.name, out);
  }
}

std::vector<Place> Places(const CommandTree& tree) {
  std::vector<Place> places;
  Collect(tree, "", places);
  return places;
}

std::string Joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

// `text` in single quotes, as all three shells read it. Fish takes a backslash before a quote, the others end the
// quotes.
std::string Quoted(std::string_view text, bool fish = false) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += fish ? "\\'" : "'\\''";
    } else if (c == '\\' && fish) {
      quoted += "\\\\";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::string Names(const std::vector<CommandTree>& commands) {
  std::vector<std::string> names;
  for (const CommandTree& command : commands) names.push_back(command.name);
  return Joined(names, " ");
}

constexpr std::string_view kBashHead =
    R"sh(# Completion of adit for bash: source it, or put it into bash-completion's folder as "adit".
_adit() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} path="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path ${COMP_WORDS[i]}" in
)sh";

constexpr std::string_view kBashTail = R"sh(  esac
  if [[ $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$cur"))
  else
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _adit adit
)sh";

std::string Bash(const CommandTree& tree) {
  const std::vector<Place> places = Places(tree);
  std::string script(kBashHead);
  for (const Place& place : places) {
    if (place.path.empty()) continue;
    // The path so far, a space and the word: one more space where the path is empty.
    const bool is_top = place.path.find(' ') == std::string::npos;
    script += fmt::format("      {}) path={} ;;\n", Quoted((is_top ? " " : "") + place.path), Quoted(place.path));
  }
  script += "    esac\n  done\n  case \"$path|$prev\" in\n";
  std::string with_value;
  for (const Place& place : places) {
    for (const FlagText& flag : place.command->flags) {
      if (flag.type.empty()) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names) patterns.push_back(Quoted(place.path + "|" + name));
      const std::string list = flag.words.empty() ? "compgen -f" : "compgen -W " + Quoted(Joined(flag.words, " "));
      script += fmt::format("    {}) COMPREPLY=($({} -- \"$cur\")); return ;;\n", Joined(patterns, "|"), list);
    }
  }
  script += "  esac\n  local flags=\"\" commands=\"\"\n  case $path in\n";
  for (const Place& place : places) {
    std::vector<std::string> flags;
    for (const FlagText& flag : place.command->flags) flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    script += fmt::format("    {}) flags={} commands={} ;;\n", Quoted(place.path), Quoted(Joined(flags, " ")),
                          Quoted(Names(place.command->commands)));
  }
  return script + std::string(kBashTail);
}

// Text of a zsh specification: brackets and colons have a meaning there.
std::string ZshText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshFunction(const std::string& path) {
  std::string name = "_adit";
  if (!path.empty()) name += "_" + path;
  for (char& c : name) c = c == ' ' || c == '-' ? '_' : c;
  return name;
}

std::string ZshFlags(const CommandTree& command) {
  std::string text;
  for (const FlagText& flag : command.flags) {
    for (const std::string& name : flag.names) {
      std::string spec = fmt::format("{}[{}]", name, ZshText(flag.help));
      if (!flag.type.empty()) {
        const std::string values = flag.words.empty() ? "_files" : fmt::format("({})", Joined(flag.words, " "));
        spec += fmt::format(":{}:{}", ZshText(flag.type), values);
      }
      text += fmt::format(" \\\n    {}", Quoted(spec));
    }
  }
  return text;
}

std::string Zsh(const CommandTree& tree) {
  std::string script = "#compdef adit\n# Completion of adit for zsh: put it into a folder of $fpath as \"_adit\".\n";
  for (const Place& place : Places(tree)) {
    const CommandTree& command = *place.command;
    script += fmt::format("\n{}() {{\n", ZshFunction(place.path));
    if (command.commands.empty()) {
      script += "  _arguments" + ZshFlags(command) + " \\\n    '*:file:_files'\n}\n";
      continue;
    }
    script += "  local state\n  _arguments -C" + ZshFlags(command) + " \\\n    '1: :->command' '*:: :->rest'\n";
    script += "  case $state in\n    command)\n      local -a commands=(";
    for (const CommandTree& child : command.commands) {
      script += "\n        " + Quoted(ZshText(child.name) + ":" + child.help);
    }
    script += ")\n      _describe command commands ;;\n    rest)\n      case $words[1] in\n";
    for (const CommandTree& child : command.commands) {
      const std::string path = place.path.empty() ? child.name : place.path + " " + child.name;
      script += fmt::format("        {}) {} ;;\n", child.name, ZshFunction(path));
    }
    script += "      esac ;;\n  esac\n}\n";
  }
  return script + "\nif [[ $funcstack[1] == _adit ]]; then\n  _adit\nelse\n  compdef _adit adit\nfi\n";
}

// Whether the command line names this command and no other inside it.
std::string FishCondition(const Place& place) {
  std::string condition;
  std::string_view path = place.path;
  while (!path.empty()) {
    const std::string_view word = path.substr(0, path.find(' '));
    condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
    path.remove_prefix(std::min(path.size(), word.size() + 1));
  }
  if (condition.empty()) return "__fish_use_subcommand";
  const std::string inner = Names(place.command->commands);
  return inner.empty() ? condition : condition + "; and not __fish_seen_subcommand_from " + inner;
}

std::string Fish(const CommandTree& tree) {
  std::string script = "# Completion of adit for fish: put it into a folder of $fish_complete_path as \"adit.fish\".\n";
  for (const Place& place : Places(tree)) {
    const std::string start = "complete -c adit -n " + Quoted(FishCondition(place), true);
    for (const CommandTree& child : place.command->commands) {
      script += fmt::format("{} -f -a {} -d {}\n", start, child.name, Quoted(child.help, true));
    }
    for (const FlagText& flag : place.command->flags) {
      script += start;
      for (const std::string& name : flag.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!flag.type.empty()) script += " -r";
      if (!flag.words.empty()) script += " -f -a " + Quoted(Joined(flag.words, " "), true);
      script += " -d " + Quoted(flag.help, true) + "\n";
    }
  }
  return script;
}

}  // namespace

std::string CompletionScript(const CommandTree& tree, const std::string& shell) {
  if (shell == "bash") return Bash(tree);
  return shell == "zsh" ? Zsh(tree) : Fish(tree);
}

Result<int> Run(const CompletionOptions& options) {
  ADIT_RETURN_IF_ERROR(Stdout().Write(CompletionScript(DescribeCommandLine(), options.shell)));
  return kExitOk;
}

}  // namespace adit::cli
