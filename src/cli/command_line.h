#ifndef ADIT_CLI_COMMAND_LINE_H_
#define ADIT_CLI_COMMAND_LINE_H_

#include <optional>
#include <string>

#include "adit/status.h"
#include "cli/options.h"

namespace adit::cli {

// What a command line asks for: a command, or a text to print and be done.
struct CommandLine {
  std::optional<Command> command;
  std::string text;
};

// Reads the arguments of main. InvalidArgument, with a hint, for what cannot be understood.
Result<CommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace adit::cli

#endif  // ADIT_CLI_COMMAND_LINE_H_
