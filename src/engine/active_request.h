#ifndef ADIT_ENGINE_ACTIVE_REQUEST_H_
#define ADIT_ENGINE_ACTIVE_REQUEST_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "adit/status.h"
#include "engine/answer_grammar.h"
#include "engine/beam_search.h"
#include "engine/event_stream.h"
#include "engine/loaded_model.h"
#include "engine/request.h"
#include "sample/sampler.h"
#include "sched/sequence.h"

namespace adit::engine {

class ActiveRequest;

// One answer of a request under way.
struct ActiveAnswer {
  ActiveRequest* request = nullptr;
  int32_t index = 0;
  sched::Sequence* sequence = nullptr;  // null before it is forked off and after it has ended
  std::optional<sample::Sampler> sampler;
  std::optional<sample::Sampler> sampler_before_min;  // bans what ends an answer; for the first min_tokens
  sample::SamplerState sampler_state;                 // after the tokens there are
  std::optional<AnswerGrammar> grammar;               // nothing: the answer is free
  AnswerStats stats;
  std::vector<Event> held;  // tokens of best_of answers, until it is known which are told
};

// A request from its submission to its last event: what was asked, its answers, and where events go. Made on the
// client's thread, then the engine thread's alone.
class ActiveRequest {
 public:
  // Checks what can be checked without the engine's state: InvalidArgument, naming the field, for anything out of
  // range. max_context: tokens of a sequence.
  static Result<std::unique_ptr<ActiveRequest>> Create(GenerationRequest request, const LoadedModel& model,
                                                       int64_t max_context, std::shared_ptr<EventStream> stream);

  const GenerationRequest& request() const { return request_; }
  EventStream& stream() { return *stream_; }
  // Of the prompt that has been taken out of request() too.
  int64_t num_prompt() const { return num_prompt_; }
  int64_t max_tokens() const { return max_tokens_; }  // of each answer, resolved
  std::vector<int32_t> TakePrompt() { return std::move(request_.prompt); }
  std::vector<ActiveAnswer>& answers() { return answers_; }
  BeamSearch* beam_search() { return beam_search_ ? &*beam_search_ : nullptr; }
  bool tells_prompt() const { return request_.prompt_logprobs >= 0; }
  // Token events that a step may bring.
  size_t events_per_step() const;

  // Whether the model, or the request, ends an answer with this token; and how many such tokens there are.
  bool IsEndToken(int32_t token) const;
  int64_t num_end_tokens() const { return static_cast<int64_t>(end_tokens_.size()); }
  // Why a token ends an answer that has `num_output` tokens with it; nothing when it does not.
  std::optional<FinishReason> EndsAnswer(int32_t token, int64_t num_output) const;

  int64_t id = 0;
  double submitted_s = 0.0;
  double deadline_s = sched::kNever;
  bool paused = false;
  bool forked = false;                  // the answers have parted
  int64_t num_prompt_told = 0;          // prompt tokens whose log probability has been told
  std::vector<sched::Sequence*> beams;  // of a beam search, in its order
  size_t num_ended = 0;                 // answers that have ended

  static constexpr int32_t kMaxAnswers = 128;
  static constexpr int32_t kMaxBeams = 16;
  // Rows of a prompt that run in one step when its log probabilities are told: their logits all lie in memory at once.
  static constexpr int64_t kToldRows = 64;

 private:
  ActiveRequest() = default;
  Status Check(const LoadedModel& model, int64_t max_context) const;
  Status MakeAnswers(const LoadedModel& model);

  GenerationRequest request_;
  std::shared_ptr<EventStream> stream_;
  std::vector<int32_t> end_tokens_;  // that end an answer
  int64_t num_prompt_ = 0;
  int64_t max_tokens_ = 0;
  std::vector<ActiveAnswer> answers_;
  std::optional<BeamSearch> beam_search_;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_ACTIVE_REQUEST_H_
