#ifndef ADIT_CLI_REPL_COMMANDS_H_
#define ADIT_CLI_REPL_COMMANDS_H_

#include <string_view>

#include "adit/status.h"
#include "cli/output.h"
#include "cli/session.h"

namespace adit::cli {

enum class Next { kGoOn, kLeave };

// Carries out a line that begins with '/'. What it has to say goes to `screen`; what is wrong with the line is told on
// stderr, and is no error. Io when nothing can be written any more.
Result<Next> RunReplCommand(std::string_view line, Session& session, Output& screen);

// Answers a message. A turn that cannot be answered (the prompt is too long, the template refuses) is told and
// forgotten; whether the next one can be is up to the user.
Result<Next> AnswerInRepl(std::string_view message, Session& session, Output& screen);

}  // namespace adit::cli

#endif  // ADIT_CLI_REPL_COMMANDS_H_
