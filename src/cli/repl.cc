#include "cli/repl.h"

#include <unistd.h>

#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/line_editor.h"
#include "cli/output.h"
#include "cli/repl_commands.h"
#include "cli/signals.h"

namespace adit::cli {
namespace {

constexpr std::string_view kPrompt = ">>> ";
constexpr std::string_view kMorePrompt = "... ";
constexpr std::string_view kQuotes = "\"\"\"";

// Where prompts and hints go: never into a file that answers are saved to.
Output& Screen() { return Stdout().is_terminal() ? Stdout() : Stderr(); }

std::string_view TrimRight(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t");
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// What is typed until it is a message: a line, lines that end with a backslash and the one after them, or what stands
// between three quotes.
class MessageReader {
 public:
  MessageReader() : editor_(STDIN_FILENO, Screen()) {}

  // kLine gives a whole message or command. kInterrupted forgets what was typed of one.
  Result<LineEditor::Outcome> Read(std::string& message) {
    std::string line;
    ADIT_ASSIGN_OR_RETURN(LineEditor::Outcome outcome, ReadLine(kPrompt, line));
    message = line;
    if (outcome != LineEditor::Outcome::kLine || line.starts_with('/')) return outcome;
    return line.starts_with(kQuotes) ? ReadQuoted(message) : ReadContinued(message);
  }

 private:
  Result<LineEditor::Outcome> ReadLine(std::string_view prompt, std::string& line) {
    ADIT_ASSIGN_OR_RETURN(const LineEditor::Outcome outcome, editor_.Read(prompt, line));
    if (outcome == LineEditor::Outcome::kLine) editor_.Remember(line);
    return outcome;
  }

  Result<LineEditor::Outcome> ReadQuoted(std::string& message) {
    message.erase(0, kQuotes.size());
    while (!TrimRight(message).ends_with(kQuotes)) {
      std::string line;
      ADIT_ASSIGN_OR_RETURN(const LineEditor::Outcome outcome, ReadLine(kMorePrompt, line));
      if (outcome != LineEditor::Outcome::kLine) return outcome;
      if (!message.empty()) message += '\n';
      message += line;
    }
    message.resize(TrimRight(message).size() - kQuotes.size());
    if (message.ends_with('\n')) message.pop_back();
    return LineEditor::Outcome::kLine;
  }

  Result<LineEditor::Outcome> ReadContinued(std::string& message) {
    while (message.ends_with('\\')) {
      std::string line;
      ADIT_ASSIGN_OR_RETURN(const LineEditor::Outcome outcome, ReadLine(kMorePrompt, line));
      if (outcome != LineEditor::Outcome::kLine) return outcome;
      message.back() = '\n';
      message += line;
    }
    return LineEditor::Outcome::kLine;
  }

  LineEditor editor_;
};

}  // namespace

Result<int> RunRepl(Session& session) {
  const InterruptScope interrupts;
  MessageReader reader;
  std::string message;
  bool interrupted = false;  // at the last prompt
  ADIT_RETURN_IF_ERROR(Screen().Write("Type a message; /? for help.\n"));
  while (true) {
    ADIT_ASSIGN_OR_RETURN(const LineEditor::Outcome outcome, reader.Read(message));
    switch (outcome) {
      case LineEditor::Outcome::kEnd:
        ADIT_RETURN_IF_ERROR(Screen().Write("\n"));
        return kExitOk;
      case LineEditor::Outcome::kInterrupted: {
        const int signal = PendingInterrupt();
        if (interrupted) return kExitSignalBase + signal;
        interrupted = true;
        ClearInterrupt();
        ADIT_RETURN_IF_ERROR(Screen().Write("\nCtrl-C again, Ctrl-D or /bye leaves.\n"));
        continue;
      }
      case LineEditor::Outcome::kLine:
        break;
    }
    interrupted = false;
    if (TrimRight(message).empty()) continue;
    const Result<Next> next = message.starts_with('/') ? RunReplCommand(TrimRight(message), session, Screen())
                                                       : AnswerInRepl(message, session, Screen());
    if (!next.ok()) return next.status();
    if (*next == Next::kLeave) return kExitOk;
  }
}

}  // namespace adit::cli
