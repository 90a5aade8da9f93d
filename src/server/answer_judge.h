#ifndef ADIT_SERVER_ANSWER_JUDGE_H_
#define ADIT_SERVER_ANSWER_JUDGE_H_

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "adit/status.h"
#include "server/api_request.h"
#include "server/guard_model.h"

namespace adit::server {

// What is said in a request's body, for a guard model: the messages of a chat, or the prompts of a completion.
std::vector<ChatMessage> ConversationOf(const nlohmann::json& body, ApiKind kind,
                                        const tokenizer::Tokenizer& tokenizer);

// Has a guard model judge one request and its answers. One thread at a time.
class AnswerJudge {
 public:
  // `model` may be null: then everything passes. `on_ready` as of GuardModel::Begin.
  AnswerJudge(const GuardModel* model, std::vector<ChatMessage> conversation, std::function<void()> on_ready)
      : model_(model), conversation_(std::move(conversation)), on_ready_(std::move(on_ready)) {}

  // Whether the request passes; nothing until that is known. Errors are those of the model.
  std::optional<Result<bool>> JudgeRequest();
  bool judges_answers() const { return model_ != nullptr && model_->options().on_output; }
  // Which of the answers pass; null until that is known. One that cannot be judged does not.
  const std::vector<bool>* JudgeAnswers(const std::vector<std::string>& texts);
  // Stands for what it finds. Precondition: there is a model.
  const guard::Rule* rule() const { return &model_->rule(); }

 private:
  const GuardModel* const model_;
  const std::vector<ChatMessage> conversation_;
  const std::function<void()> on_ready_;
  std::unique_ptr<Judging> of_request_;
  std::optional<Result<bool>> request_passes_;
  bool answers_begun_ = false;
  std::vector<std::unique_ptr<Judging>> of_answers_;  // null: judged
  std::vector<bool> answers_pass_;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_ANSWER_JUDGE_H_
