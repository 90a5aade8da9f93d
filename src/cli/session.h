#ifndef ADIT_CLI_SESSION_H_
#define ADIT_CLI_SESSION_H_

#include <memory>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "cli/conversation.h"
#include "cli/options.h"
#include "engine/generator.h"
#include "engine/loaded_model.h"
#include "engine/model_runner.h"

namespace adit::cli {

// A model that answers.
class Session {
 public:
  static Result<std::unique_ptr<Session>> Open(const RunOptions& options);

  // Writes the model's answer to `text` to stdout as it comes, and a line end behind one that has none; reports on
  // stderr with --verbose. What was said and answered is kept for the next turn, an interrupted answer too. Stops
  // early, with kCancelled, when a signal is pending (signals.h). On an error before the first token the turn leaves no
  // trace.
  Result<engine::FinishReason> Answer(std::string_view text);

  // Forgets what was said.
  void Clear() { conversation_.Clear(); }

  const engine::LoadedModel& model() const { return *model_; }

 private:
  Session(const RunOptions& options, int64_t seed, int64_t context_length, std::unique_ptr<engine::LoadedModel> model,
          std::unique_ptr<engine::ModelRunner> runner, Conversation conversation);

  const RunOptions options_;
  engine::GenerateOptions generate_;
  // In the order in which they borrow from each other.
  std::unique_ptr<engine::LoadedModel> model_;
  std::unique_ptr<engine::ModelRunner> runner_;
  engine::Generator generator_;
  Conversation conversation_;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_SESSION_H_
