#ifndef ADIT_CLI_REPL_H_
#define ADIT_CLI_REPL_H_

#include "adit/status.h"
#include "cli/session.h"

namespace adit::cli {

// Reads lines from stdin, a terminal, and answers each until the end of input or /bye. Ctrl-C stops an answer; at the
// prompt, twice in a row, it ends the program. Gives the exit code.
Result<int> RunRepl(Session& session);

}  // namespace adit::cli

#endif  // ADIT_CLI_REPL_H_
