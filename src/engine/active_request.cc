#include "engine/active_request.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"

namespace adit::engine {
namespace {

Status CheckRange(const char* field, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return Status();
  return InvalidArgument("{} is {}; it is in {}..{}", field, value, least, most);
}

Status CheckPositive(const char* field, double value) {
  if (value > 0.0) return Status();
  return InvalidArgument("{} is {}; it is above 0", field, value);
}

}  // namespace

Status ActiveRequest::Check(const LoadedModel& model, int64_t max_context) const {
  const auto num_prompt = static_cast<int64_t>(request_.prompt.size());
  if (request_.prompt.empty()) return InvalidArgument("the prompt is empty");
  if (num_prompt >= max_context) {
    return InvalidArgument("the prompt has {} tokens, which leaves no room for an answer in a context of {}",
                           num_prompt, max_context);
  }
  if (request_.tenant_tokens > 0 && num_prompt >= request_.tenant_tokens) {
    return InvalidArgument(
        "the prompt has {} tokens, which leaves no room for an answer: its tenant may hold {} tokens", num_prompt,
        request_.tenant_tokens);
  }
  const int64_t vocab_size = model.tokenizer().vocab_size();
  for (const auto& ids : {std::cref(request_.prompt), std::cref(request_.stop_token_ids)}) {
    for (const int32_t token : ids.get()) {
      if (token < 0 || token >= vocab_size) return InvalidArgument("token {} is not in 0..{}", token, vocab_size - 1);
    }
  }
  if (request_.max_tokens < -1) return InvalidArgument("max_tokens is {}; it is at least 0", request_.max_tokens);
  ADIT_RETURN_IF_ERROR(CheckRange("n", request_.num_answers, 1, kMaxAnswers));
  ADIT_RETURN_IF_ERROR(CheckRange("prompt_logprobs", request_.prompt_logprobs, -1, 20));
  if (request_.best_of != 0)
    ADIT_RETURN_IF_ERROR(CheckRange("best_of", request_.best_of, request_.num_answers, kMaxAnswers));
  if (request_.min_tokens < 0 || (request_.max_tokens >= 0 && request_.min_tokens > request_.max_tokens)) {
    return InvalidArgument("min_tokens is {}; it is in 0..max_tokens, which is {}", request_.min_tokens,
                           request_.max_tokens);
  }
  if (request_.beam.width != 0) {
    ADIT_RETURN_IF_ERROR(CheckRange("the beam width", request_.beam.width, 2, kMaxBeams));
    if (request_.num_answers > request_.beam.width) {
      return InvalidArgument("n is {}; a search with {} beams has no more answers", request_.num_answers,
                             request_.beam.width);
    }
    if (request_.best_of > request_.num_answers) return InvalidArgument("best_of and beam search exclude each other");
    if (!(request_.beam.length_penalty >= -10.0 && request_.beam.length_penalty <= 10.0)) {
      return InvalidArgument("length_penalty is {}; it is in -10..10", request_.beam.length_penalty);
    }
  }
  if (request_.grammar != nullptr) {
    if (request_.beam.width != 0) return Unsupported("a grammar and a beam search exclude each other");
    if (request_.grammar->vocab_size() != vocab_size) {
      return InvalidArgument("the grammar was compiled for {} tokens, the model has {}", request_.grammar->vocab_size(),
                             vocab_size);
    }
  }
  ADIT_RETURN_IF_ERROR(CheckPositive("timeout", request_.timeout_s));
  ADIT_RETURN_IF_ERROR(CheckPositive("the objective of the first token", request_.ttft_objective_s));
  return CheckPositive("the objective of the time between tokens", request_.tpot_objective_s);
}

Result<std::unique_ptr<ActiveRequest>> ActiveRequest::Create(GenerationRequest request, const LoadedModel& model,
                                                             int64_t max_context, std::shared_ptr<EventStream> stream) {
  std::unique_ptr<ActiveRequest> active(new ActiveRequest());
  active->request_ = std::move(request);
  active->stream_ = std::move(stream);
  ADIT_RETURN_IF_ERROR(active->Check(model, max_context));
  GenerationRequest& wanted = active->request_;
  active->num_prompt_ = static_cast<int64_t>(wanted.prompt.size());
  const int64_t most = wanted.tenant_tokens > 0 ? std::min(max_context, wanted.tenant_tokens) : max_context;
  const int64_t room = most - active->num_prompt_;
  active->max_tokens_ = wanted.max_tokens < 0 ? room : std::min(wanted.max_tokens, room);
  if (wanted.best_of == 0) wanted.best_of = wanted.num_answers;
  if (!wanted.ignore_eos) {
    const auto ids = model.tokenizer().end_of_generation_ids();
    active->end_tokens_.assign(ids.begin(), ids.end());
  }
  active->end_tokens_.insert(active->end_tokens_.end(), wanted.stop_token_ids.begin(), wanted.stop_token_ids.end());
  ADIT_RETURN_IF_ERROR(active->MakeAnswers(model));
  return active;
}

Status ActiveRequest::MakeAnswers(const LoadedModel& model) {
  const int64_t vocab_size = model.tokenizer().vocab_size();
  if (request_.beam.width > 0) {
    // Validates the parameters too, of which a search uses none.
    ADIT_RETURN_IF_ERROR(sample::Validate(request_.sampling, vocab_size));
    if (max_tokens_ > 0) beam_search_.emplace(request_.beam, max_tokens_, end_tokens_);
    answers_.resize(static_cast<size_t>(request_.num_answers));
  } else {
    answers_.resize(static_cast<size_t>(request_.best_of));
  }
  for (size_t i = 0; i < answers_.size(); ++i) {
    answers_[i].request = this;
    answers_[i].index = static_cast<int32_t>(i);
    if (request_.beam.width > 0) continue;
    sample::SamplingParams params = request_.sampling;
    // Who keeps the likeliest needs to know how likely each is.
    if (request_.best_of > request_.num_answers) params.top_logprobs = std::max(params.top_logprobs, 0);
    params.seed = static_cast<int64_t>(static_cast<uint64_t>(params.seed) + i);
    ADIT_ASSIGN_OR_RETURN(answers_[i].sampler, sample::Sampler::Create(params, vocab_size));
    if (request_.grammar != nullptr) {
      answers_[i].grammar.emplace(*request_.grammar, model.tokenizer().end_of_generation_ids());
    }
    if (request_.min_tokens == 0 || end_tokens_.empty()) continue;
    for (const int32_t token : end_tokens_) {
      params.logit_bias.push_back({.token_id = token, .bias = -std::numeric_limits<double>::infinity()});
    }
    ADIT_ASSIGN_OR_RETURN(answers_[i].sampler_before_min, sample::Sampler::Create(params, vocab_size));
  }
  return Status();
}

size_t ActiveRequest::events_per_step() const {
  const size_t prompt_rows = tells_prompt() && num_prompt_told < num_prompt_ ? static_cast<size_t>(kToldRows) : 0;
  return answers_.size() + prompt_rows;
}

bool ActiveRequest::IsEndToken(int32_t token) const {
  return std::find(end_tokens_.begin(), end_tokens_.end(), token) != end_tokens_.end();
}

std::optional<FinishReason> ActiveRequest::EndsAnswer(int32_t token, int64_t num_output) const {
  if (IsEndToken(token)) return FinishReason::kStop;
  if (num_output >= max_tokens_) return FinishReason::kLength;
  return std::nullopt;
}

}  // namespace adit::engine
