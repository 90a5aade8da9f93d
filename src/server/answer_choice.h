#ifndef ADIT_SERVER_ANSWER_CHOICE_H_
#define ADIT_SERVER_ANSWER_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/event_stream.h"
#include "engine/text_stream.h"
#include "server/answer_guard.h"
#include "server/api_request.h"
#include "server/output_parser.h"

namespace adit::server {

// A token of an answer or a prompt, and what is told of it.
struct AnswerToken {
  int32_t id = 0;
  double logprob = 0.0;
  std::vector<TokenLogprob> top;
  size_t begin = 0;  // of its text in that of the answer, in bytes
};

// One answer of a request, from the engine's events to what clients are told. What is news is what has been said since
// the last TakeNews: a stream tells it at once, a whole answer takes it once, at the end. One thread at a time.
class AnswerChoice {
 public:
  // `request` and `tokenizer` outlive the object.
  AnswerChoice(const ApiRequest& request, const tokenizer::Tokenizer& tokenizer);

  void TakeToken(engine::Event event);
  void TakeEnd(const AnswerStats& stats);

  struct News {
    std::vector<OutputDelta> deltas;
    std::vector<AnswerToken> tokens;  // whose text is certain; with log probabilities or token ids alone
    bool empty() const { return deltas.empty() && tokens.empty(); }
  };
  News TakeNews();
  // Of text that is certain and not yet taken, so that a stream need not take it token by token.
  bool has_news() const { return !deltas_.empty(); }
  // All of it that is not taken, as one text, for who judges it.
  std::string Untold() const;
  // Nothing of what is not taken is told: a guard model, for which `rule` stands, has not let it pass. Precondition: it
  // has ended.
  void Withhold(const guard::Rule& rule);

  // Null until the answer has ended.
  const char* finish_reason() const { return finish_reason_; }
  int64_t num_tokens() const { return num_tokens_; }  // the one that ended it included
  int64_t num_reasoning_tokens() const { return num_reasoning_tokens_; }
  // That making text of the tokens took, stop strings looked for.
  double detokenize_seconds() const { return detokenize_seconds_; }
  std::optional<size_t> stop() const { return stop_; }
  std::optional<int32_t> stop_token() const { return stop_token_; }
  size_t num_calls() const { return num_calls_; }
  // A rule, or a guard model, has ended it.
  bool blocked() const { return withheld_by_ != nullptr || (guard_ && guard_->blocked()); }
  // What rules have found in the request and in this answer.
  std::vector<guard::Verdict> verdicts() const;
  // In the answer alone.
  std::vector<guard::Verdict> own_verdicts() const;
  // What it cost, once the engine has told.
  bool has_stats() const { return has_stats_; }
  const AnswerStats& stats() const { return stats_; }

 private:
  std::string TextOf(int32_t token);
  void Say(const std::string& text);
  // What the parser has made of the text.
  void Tell(std::vector<OutputDelta> deltas);
  void End(const char* finish_reason);

  const ApiRequest& request_;
  engine::TextStream stream_;
  std::unique_ptr<OutputParser> parser_;  // null: all is content
  std::optional<AnswerGuard> guard_;
  std::vector<OutputDelta> deltas_;
  std::vector<AnswerToken> tokens_;  // not taken yet
  size_t num_said_ = 0;              // bytes of text that are certain
  size_t num_calls_ = 0;
  int64_t num_tokens_ = 0;
  int64_t num_reasoning_tokens_ = 0;
  double detokenize_seconds_ = 0.0;
  bool reasons_ = false;  // what was said last is of the thoughts
  const char* finish_reason_ = nullptr;
  std::optional<size_t> stop_;         // string that was found
  std::optional<int32_t> stop_token_;  // of the request that ended it
  AnswerStats stats_;
  bool has_stats_ = false;
  const guard::Rule* withheld_by_ = nullptr;
};

}  // namespace adit::server

#endif  // ADIT_SERVER_ANSWER_CHOICE_H_
