#ifndef ADIT_CLI_EXIT_CODE_H_
#define ADIT_CLI_EXIT_CODE_H_

#include <string_view>

#include "adit/status.h"

namespace adit::cli {

// What the program ends with.
enum ExitCode : int {
  kExitOk = 0,
  kExitUsage = 2,          // a flag or an argument is wrong
  kExitModelNotFound = 3,  // there is no such model
  kExitDoesNotFit = 4,     // not enough memory
  kExitRuntime = 5,        // everything else: broken files, failed reads and writes, templates that fail
  kExitSignalBase = 128,   // plus the number of the signal that stopped the program
};

ExitCode ExitCodeOf(StatusCode code);

// An error that no flag caused, whatever the part that met it calls it: it ends the program with kExitRuntime.
Status AsRuntimeError(const Status& status);

// Prints "adit: message" to stderr, on one line without control characters, and returns the exit code.
int ReportError(const Status& status);

// A line for people on stderr, which is no error: "adit: text".
void PrintNote(std::string_view text);

}  // namespace adit::cli

#endif  // ADIT_CLI_EXIT_CODE_H_
