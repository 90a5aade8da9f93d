#include "server/answer_choice.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
namespace adit::server {
namespace {

// Marks that are control tokens are needed to see calls by.
bool NeedsControlTokens(const ApiRequest& request) {
  return request.with_special || WritesControlTokens(request.output.tools, request.output.reasoning);
}

}  // namespace

AnswerChoice::AnswerChoice(const ApiRequest& request, const tokenizer::Tokenizer& tokenizer)
    : request_(request),
      stream_(tokenizer, {.stops = request.stops,
                          .min_tokens = request.generation.min_tokens,
                          .with_special = NeedsControlTokens(request)}),
      parser_(MakeOutputParser(request.output)) {
  if (request.guard != nullptr && request.guard->Any(guard::Side::kOutput)) guard_.emplace(*request.guard);
}

void AnswerChoice::TakeToken(engine::Event event) {
  if (finish_reason_ != nullptr) return;
  ++num_tokens_;
  if (event.ends_answer) return;
  if (request_.logprobs || request_.token_ids) {
    tokens_.push_back(
        {.id = event.token, .logprob = event.logprob, .top = std::move(event.top), .begin = stream_.num_bytes()});
  }
  Say(TextOf(event.token));
  if (reasons_) ++num_reasoning_tokens_;
  if (blocked()) {
    End("content_filter");
  } else if (stream_.stop()) {
    End("stop");
  }
}

void AnswerChoice::TakeEnd(const AnswerStats& stats) {
  stats_ = stats;
  has_stats_ = true;
  if (finish_reason_ != nullptr) return;
  Say(stream_.Finish());
  const bool stopped = stats.reason == engine::FinishReason::kStop || stream_.stop().has_value();
  const auto& ids = request_.generation.stop_token_ids;
  if (std::find(ids.begin(), ids.end(), stats.stop_token) != ids.end()) stop_token_ = stats.stop_token;
  End(stopped ? "stop" : "length");
}

std::string AnswerChoice::TextOf(int32_t token) {
  const SecondsAdder adder(detokenize_seconds_);
  return stream_.Append(token);
}

void AnswerChoice::Say(const std::string& text) {
  num_said_ += text.size();
  std::vector<OutputDelta> deltas;
  if (parser_ == nullptr) {
    AddText(OutputDelta::Kind::kContent, text, deltas);
  } else {
    parser_->Append(text, deltas);
  }
  Tell(std::move(deltas));
}

void AnswerChoice::Tell(std::vector<OutputDelta> deltas) {
  if (!deltas.empty()) reasons_ = deltas.back().kind == OutputDelta::Kind::kReasoning;
  if (guard_) return guard_->Take(deltas, deltas_);
  for (OutputDelta& delta : deltas) {
    if (delta.kind == OutputDelta::Kind::kToolCall) {
      deltas_.push_back(std::move(delta));
    } else {
      AddText(delta.kind, delta.text, deltas_);
    }
  }
}

std::string AnswerChoice::Untold() const {
  std::string text;
  for (const OutputDelta& delta : deltas_) {
    if (!text.empty() && delta.kind == OutputDelta::Kind::kToolCall) text += '\n';
    text += delta.name + delta.text;
  }
  return text;
}

void AnswerChoice::Withhold(const guard::Rule& rule) {
  deltas_.clear();
  tokens_.clear();
  num_calls_ = 0;
  withheld_by_ = &rule;
  finish_reason_ = "content_filter";
}

std::vector<guard::Verdict> AnswerChoice::verdicts() const {
  std::vector<guard::Verdict> all = request_.input_verdicts;
  guard::AddVerdicts(own_verdicts(), all);
  return all;
}

std::vector<guard::Verdict> AnswerChoice::own_verdicts() const {
  std::vector<guard::Verdict> all = guard_ ? guard_->verdicts() : std::vector<guard::Verdict>();
  if (withheld_by_ != nullptr) all.push_back({.rule = withheld_by_, .side = guard::Side::kOutput, .count = 1});
  return all;
}

void AnswerChoice::End(const char* finish_reason) {
  stop_ = stream_.stop();
  if (stop_) {
    // Tokens that lie wholly in the stop string or behind it are no part of the text.
    if (request_.include_stop) Say(request_.stops[*stop_]);
    std::erase_if(tokens_, [&](const AnswerToken& token) { return token.begin >= num_said_; });
  }
  if (parser_ != nullptr) {
    std::vector<OutputDelta> deltas;
    parser_->Finish(deltas);
    Tell(std::move(deltas));
  }
  if (guard_) guard_->Finish(deltas_);
  num_calls_ += static_cast<size_t>(std::count_if(deltas_.begin(), deltas_.end(), [](const OutputDelta& delta) {
    return delta.kind == OutputDelta::Kind::kToolCall;
  }));
  finish_reason_ = blocked() ? "content_filter" : finish_reason;
  if (num_calls_ > 0 && std::string_view(finish_reason_) == "stop") {
    finish_reason_ = request_.output.legacy ? "function_call" : "tool_calls";
  }
}

AnswerChoice::News AnswerChoice::TakeNews() {
  News news;
  news.deltas = std::exchange(deltas_, {});
  if (finish_reason_ == nullptr) {
    for (const OutputDelta& delta : news.deltas) num_calls_ += delta.kind == OutputDelta::Kind::kToolCall ? 1 : 0;
  }
  if (!request_.output.include_reasoning) {
    std::erase_if(news.deltas, [](const OutputDelta& d) { return d.kind == OutputDelta::Kind::kReasoning; });
  }
  // A token goes with its text: when that is held back, so is the token.
  size_t certain = tokens_.size();
  if (finish_reason_ == nullptr) {
    certain = 0;
    while (certain < tokens_.size() && tokens_[certain].begin < num_said_) ++certain;
  }
  const auto end = tokens_.begin() + static_cast<std::ptrdiff_t>(certain);
  news.tokens.assign(std::make_move_iterator(tokens_.begin()), std::make_move_iterator(end));
  tokens_.erase(tokens_.begin(), end);
  return news;
}

}  // namespace adit::server
