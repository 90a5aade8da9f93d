#ifndef ADIT_CLI_COMMAND_TREE_H_
#define ADIT_CLI_COMMAND_TREE_H_

#include <string>
#include <vector>

namespace adit::cli {

// What a command takes, as texts: for shell completion and the manual page, which are written from it and so cannot go
// stale.
struct FlagText {
  std::vector<std::string> names;  // with dashes, short ones first
  std::string type;                // of its value, "N"; empty: it takes none
  std::string help;
  std::vector<std::string> words;  // the values that there are, where they are known
};

struct ArgumentText {
  std::string name;
  std::string help;
  bool required = false;
};

struct CommandTree {
  std::string name;
  std::string help;
  std::vector<FlagText> flags;
  std::vector<ArgumentText> arguments;
  std::vector<CommandTree> commands;
};

// Of adit itself. Defined with the parser (command_line.cc).
CommandTree DescribeCommandLine();

// A script that completes adit's command lines. `shell`: "bash", "zsh" or "fish".
std::string CompletionScript(const CommandTree& tree, const std::string& shell);

// The manual page adit(1).
std::string ManualPage(const CommandTree& tree, const std::string& version);

}  // namespace adit::cli

#endif  // ADIT_CLI_COMMAND_TREE_H_
