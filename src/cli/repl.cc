#include "cli/repl.h"

#include <unistd.h>

#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/signals.h"

namespace adit::cli {
namespace {

constexpr std::string_view kPrompt = ">>> ";
constexpr std::string_view kHelp =
    "/bye     leave (Ctrl-D does the same)\n"
    "/clear   forget what was said; the system message stays\n"
    "/?       this help\n"
    "Ctrl-C stops an answer.\n";

enum class Next { kGoOn, kLeave };

// Where prompts and hints go: never into a file that answers are saved to.
Output& Screen() { return Stdout().is_terminal() ? Stdout() : Stderr(); }

Result<Next> RunSlashCommand(std::string_view line, Session& session) {
  if (line == "/bye") return Next::kLeave;
  if (line == "/clear") {
    session.Clear();
    ADIT_RETURN_IF_ERROR(Screen().Write("The conversation is forgotten.\n"));
  } else if (line == "/?" || line == "/help") {
    ADIT_RETURN_IF_ERROR(Screen().Write(kHelp));
  } else {
    PrintNote("no command '" + std::string(line) + "'; /? lists them");
  }
  return Next::kGoOn;
}

std::string_view TrimRight(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Answers one line. A turn that cannot be answered (the prompt is too long, the template refuses) is told and
// forgotten; whether the next one can be is up to the user.
Result<Next> AnswerLine(std::string_view line, Session& session) {
  if (TrimRight(line).empty()) return Next::kGoOn;
  if (line.starts_with('/')) return RunSlashCommand(TrimRight(line), session);
  const Result<engine::FinishReason> reason = session.Answer(line);
  if (!reason.ok()) {
    if (reason.status().code() == StatusCode::kIo) return reason.status();
    (void)ReportError(reason.status());
  }
  ClearInterrupt();
  ADIT_RETURN_IF_ERROR(Screen().Write("\n"));
  return Next::kGoOn;
}

}  // namespace

Result<int> RunRepl(Session& session) {
  const InterruptScope interrupts;
  LineReader reader(STDIN_FILENO);
  std::string line;
  bool interrupted = false;  // at the last prompt
  ADIT_RETURN_IF_ERROR(Screen().Write("Type a message; /? for help.\n"));
  while (true) {
    ADIT_RETURN_IF_ERROR(Screen().Write(kPrompt));
    ADIT_ASSIGN_OR_RETURN(const LineReader::Outcome outcome, reader.Next(line, /*stop_on_signal=*/true));
    switch (outcome) {
      case LineReader::Outcome::kEnd:
        ADIT_RETURN_IF_ERROR(Screen().Write("\n"));
        return kExitOk;
      case LineReader::Outcome::kInterrupted: {
        const int signal = PendingInterrupt();
        if (interrupted) return kExitSignalBase + signal;
        interrupted = true;
        ClearInterrupt();
        ADIT_RETURN_IF_ERROR(Screen().Write("\nCtrl-C again, Ctrl-D or /bye leaves.\n"));
        continue;
      }
      case LineReader::Outcome::kLine:
        break;
    }
    interrupted = false;
    ADIT_ASSIGN_OR_RETURN(const Next next, AnswerLine(line, session));
    if (next == Next::kLeave) return kExitOk;
  }
}

}  // namespace adit::cli
