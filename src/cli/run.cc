#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/input.h"
#include "cli/model_file.h"
#include "cli/repl.h"
#include "cli/session.h"
#include "cli/signals.h"

namespace adit::cli {
namespace {

// How long a prompt on the command line waits for more on stdin. Programs are often started with a pipe that nobody
// writes to and nobody closes; they must not wait for ever.
constexpr int kStdinTimeoutMs = 3000;

// What a shell puts at the end of a text that is piped in is not part of it.
void DropLineEnd(std::string& text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
}

// All of stdin as part of a prompt.
Result<std::string> ReadPiped(const RunOptions& options) {
  ADIT_ASSIGN_OR_RETURN(std::string text, ReadAll(STDIN_FILENO, "stdin"));
  if (!options.raw) DropLineEnd(text);
  return text;
}

// What stdin adds to a prompt that the command line gives: what it holds, after an empty line.
Result<std::string> WithPiped(const RunOptions& options, std::chrono::steady_clock::time_point started) {
  if (::isatty(STDIN_FILENO) == 1) return *options.prompt;
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - started);
  if (!HasInput(STDIN_FILENO, std::max(kStdinTimeoutMs - static_cast<int>(waited.count()), 0))) {
    PrintNote("nothing came on stdin for 3 s: going on without it");
    return *options.prompt;
  }
  const Result<std::string> piped = ReadPiped(options);
  // A closed stdin has nothing to add.
  if (!piped.ok() && piped.status().code() == StatusCode::kIo) return *options.prompt;
  if (!piped.ok()) return piped.status();
  return piped->empty() ? *options.prompt : *options.prompt + "\n\n" + *piped;
}

Result<int> RunOnce(const RunOptions& options) {
  const auto started = std::chrono::steady_clock::now();
  ADIT_RETURN_IF_ERROR(CheckModelPath(options.model));
  std::string prompt;
  if (!options.prompt) {
    ADIT_ASSIGN_OR_RETURN(prompt, ReadPiped(options));
    if (prompt.empty()) return InvalidArgument("run: no PROMPT, and nothing on stdin");
  }
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options));
  if (options.prompt) {
    ADIT_ASSIGN_OR_RETURN(prompt, WithPiped(options, started));
  }
  const InterruptScope interrupts;
  ADIT_ASSIGN_OR_RETURN(const engine::FinishReason reason, session->Answer(prompt));
  if (reason == engine::FinishReason::kCancelled) return kExitSignalBase + PendingInterrupt();
  return kExitOk;
}

}  // namespace

Result<int> Run(const RunOptions& options) {
  if (options.prompt || ::isatty(STDIN_FILENO) == 0) return RunOnce(options);
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, Session::Open(options));
  return RunRepl(*session);
}

}  // namespace adit::cli
