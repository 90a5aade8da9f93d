#ifndef ADIT_CLI_SESSION_H_
#define ADIT_CLI_SESSION_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "cli/conversation.h"
#include "cli/options.h"
#include "engine/engine_core.h"
#include "engine/loaded_model.h"

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

  // What was said, to be read and changed between answers.
  Conversation& conversation() { return conversation_; }

  // Answers the last message once more, with the next seed; the answer takes the place of that before. Precondition:
  // there was a turn. An error leaves the turn as it was.
  Result<engine::FinishReason> Retry();

  // Sets what a flag of adit run sets (SetTalkFlag), from the next answer on. Errors: those of SetTalkFlag, and
  // InvalidArgument for a value that no sampler takes.
  Status Set(const std::string& name, const std::string& value);

  const RunOptions& options() const { return options_; }
  int64_t seed() const { return sampling_.seed; }
  int64_t max_context() const { return engine_->max_context(); }
  const engine::LoadedModel& model() const { return *model_; }

 private:
  Session(const RunOptions& options, int64_t seed, std::unique_ptr<engine::LoadedModel> model,
          std::unique_ptr<engine::EngineCore> engine, Conversation conversation);
  Result<engine::AnswerStats> Generate(std::vector<int32_t> prompt, const std::function<bool(int32_t)>& on_token,
                                       const std::function<void(int64_t)>& on_prompt);

  RunOptions options_;
  sample::SamplingParams sampling_;  // those of options_ for this model
  // In the order in which they borrow from each other.
  std::unique_ptr<engine::LoadedModel> model_;
  std::unique_ptr<engine::EngineCore> engine_;
  Conversation conversation_;
  GrammarPtr grammar_;  // what answers are held to; null: nothing
  int64_t num_requests_ = 0;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_SESSION_H_
