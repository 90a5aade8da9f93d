#ifndef ADIT_SERVER_GUARD_MODEL_H_
#define ADIT_SERVER_GUARD_MODEL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "engine/engine.h"
#include "engine/text_stream.h"
#include "guard/rules.h"
#include "server/chat_prompt.h"

namespace adit::server {

struct GuardModelOptions {
  std::string name;               // for clients and the log
  std::string chat_template;      // instead of the file's; empty: the file's
  std::string unsafe = "unsafe";  // what the model's answer begins with or holds when the text is unsafe
  std::string safe = "safe";
  bool on_input = true;     // filters requests
  bool on_output = true;    // filters answers, whole
  int64_t max_tokens = 32;  // of its answer
};

// What a guard model makes of a conversation.
struct Judgement {
  bool unsafe = false;
  std::vector<std::string> categories;  // as it names them: "S1"
  double score = 0.0;                   // how sure it is that the text is unsafe, 0 to 1
};

// What the answer of a guard model says: "safe", or "unsafe" with categories behind it, however it is framed
// ("Safety: Unsafe\nCategories: Violent"). One that says neither is taken as unsafe, of the category "unclear".
// `probability`: of the answer's first token.
Judgement ReadJudgement(std::string_view answer, double probability, const GuardModelOptions& options);

// A judgement under way. Dropping it cancels. One thread at a time.
class Judging {
 public:
  Judging(engine::RequestHandle handle, const tokenizer::Tokenizer& tokenizer, const GuardModelOptions& options)
      : handle_(std::move(handle)), text_(tokenizer), options_(options) {}
  // Nothing until there is one.
  std::optional<Result<Judgement>> Poll();

 private:
  engine::RequestHandle handle_;
  engine::TextStream text_;
  const GuardModelOptions& options_;
  std::string answer_;
  double probability_ = 1.0;
  bool begun_ = false;
  std::optional<Result<Judgement>> result_;
};

// A model that judges what others ask and answer, with an engine of its own. Immutable; any thread.
class GuardModel {
 public:
  // Takes both over. FailedPrecondition where there is no template for its prompts, else the template's errors.
  static Result<std::unique_ptr<GuardModel>> Create(std::unique_ptr<engine::LoadedModel> model,
                                                    std::unique_ptr<engine::Engine> engine, GuardModelOptions options);

  // Begins to judge the last of `messages`, which the others lead to. `on_ready` as of Engine::Submit. What does not
  // fit into the model's context is left out, the oldest message first; InvalidArgument when the last does not fit.
  Result<std::unique_ptr<Judging>> Begin(const std::vector<ChatMessage>& messages,
                                         std::function<void()> on_ready) const;

  const GuardModelOptions& options() const { return options_; }
  engine::EngineStats stats() const { return engine_->stats(); }
  // Stands for its findings beside those of rules.
  const guard::Rule& rule() const { return rule_; }

 private:
  GuardModel(std::unique_ptr<engine::LoadedModel> model, std::unique_ptr<engine::Engine> engine, ChatPrompt prompt,
             GuardModelOptions options);

  const GuardModelOptions options_;
  const guard::Rule rule_;
  const std::unique_ptr<engine::LoadedModel> model_;
  const std::unique_ptr<engine::Engine> engine_;  // of model_
  const ChatPrompt prompt_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_GUARD_MODEL_H_
