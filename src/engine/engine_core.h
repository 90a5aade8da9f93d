#ifndef ADIT_ENGINE_ENGINE_CORE_H_
#define ADIT_ENGINE_ENGINE_CORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "adit/status.h"
#include "engine/active_request.h"
#include "engine/engine_options.h"
#include "engine/model_runner.h"
#include "sched/scheduler.h"

namespace adit::engine {

// How the engine fares; all counts since its start.
struct EngineStats {
  int64_t num_running = 0;
  int64_t num_waiting = 0;
  int64_t num_held_back = 0;  // of those, for others of their tenant
  int64_t num_requests = 0;   // that have not ended, paused ones included
  int64_t num_paused = 0;     // whose readers are slow
  sched::SchedulerCounters scheduler;
  kv::PrefixTreeStats prefix_cache;
  kv::PageTimeStats page_times;  // of those in the prefix cache
  sched::PageUse pages;
  double fairness_gap = 0.0;  // of the counters of waiting tenants (sched::FairShare)
  double fairness_bound = 0.0;
  int64_t cancelled = 0;
  int64_t missed_deadlines = 0;
  double plan_seconds = 0.0;  // spent in planning, in running the model, and in choosing and telling tokens
  double model_seconds = 0.0;
  double sample_seconds = 0.0;
  double mask_seconds = 0.0;   // grammars' part of it, of all workers together
  plan::PassWork work;         // what steps had to read and compute,
  nn::OpSeconds op_seconds{};  // and where their model_seconds went
  double last_step_s = 0.0;    // when the last step ended
  double queue_seconds = 0.0;  // estimate for a request that came now
};

// The step loop without threads: requests in, one step at a time, events out. Where kernels, cache, scheduler and
// sampler meet. A request's tokens and log probabilities are the same bits whatever other requests there are, however
// its prompt was chunked or cached, and however often it was preempted. Used by one thread; it runs the model's team.
class EngineCore {
 public:
  // Errors: those of the options; ResourceExhausted when memory cannot be had. `model` outlives the engine.
  static Result<std::unique_ptr<EngineCore>> Create(const LoadedModel& model, const EngineOptions& options);
  ~EngineCore();

  const LoadedModel& model() const { return model_; }
  const ModelRunner& runner() const { return *runner_; }
  const sched::Scheduler& scheduler() const { return *scheduler_; }
  // Tokens of the longest sequence that fits.
  int64_t max_context() const { return scheduler_->max_context(); }

  // Takes a request over. What stands against it reaches its stream as an error. Times are seconds of one clock.
  void Add(std::unique_ptr<ActiveRequest> request, double now_s);
  // Ends the answers of a request that have not ended. Nothing when there is no such request.
  void End(int64_t request_id, FinishReason reason, double now_s);
  // Ends one answer of a request whose answers have parted. Nothing when it has ended, or cannot end by itself.
  void EndOne(int64_t request_id, int32_t answer, FinishReason reason, double now_s);
  void EndAll(FinishReason reason, double now_s);

  // One step. False when there is nothing to run: nobody waits, or all have slow readers.
  bool Step(double now_s);

  bool idle() const { return requests_.empty(); }
  // When the next request's time is over; never, or the time.
  double next_deadline_s() const;
  EngineStats stats() const;
  void ClearPrefixCache() { scheduler_->ClearPrefixCache(); }
  // What the last step did; for tests and traces.
  const sched::StepPlan* last_plan() const { return last_plan_; }

 private:
  // One choice to be made from a row of logits.
  struct Choice {
    ActiveAnswer* answer = nullptr;
    size_t logit_row = 0;
    Result<sample::SampledToken> token = sample::SampledToken{};
    bool ends_grammar = false;  // nothing can come after the token
    double mask_seconds = 0.0;  // that its grammar took to say what may come, and to take what came
  };

  EngineCore(const LoadedModel& model, std::unique_ptr<ModelRunner> runner);

  void EndLate(double now_s);
  void ResumeReaders();
  void EndHopeless(const sched::StepPlan& plan);
  std::span<const float> RunModel(const sched::StepPlan& plan);
  void Choose(const sched::StepPlan& plan, std::span<const float> logits);
  void SampleAll(std::span<const float> logits);
  void SampleOne(std::span<const float> logits, Choice& choice, sample::SampleScratch& scratch) const;
  void TellPrompt(ActiveRequest& request, const sched::PlannedRows& rows, std::span<const float> logits);
  void StepBeams(ActiveRequest& request, double now_s);
  void NoteBeamCandidates(const sched::Sequence& sequence, std::span<const float> logits);
  void ForkAnswers(ActiveRequest& request);
  void TakeToken(Choice& choice, double now_s);
  void EndAnswer(ActiveAnswer& answer, FinishReason reason, double now_s);
  void EndBeams(ActiveRequest& request, FinishReason reason, double now_s);
  static void NoteTimes(const ActiveRequest& request, const sched::Sequence* sequence, double now_s,
                        AnswerStats& stats);
  void TellBestOf(ActiveRequest& request);
  void Fail(ActiveRequest& request, Status status);
  void ReleaseSequences(ActiveRequest& request);
  void Forget(ActiveRequest& request);
  void PauseIfFull(ActiveRequest& request);
  uint64_t SaltOf(int32_t tenant, const std::string& salt);
  std::span<const float> LogitRow(std::span<const float> logits, size_t row) const;

  const LoadedModel& model_;
  std::unique_ptr<ModelRunner> runner_;
  std::unique_ptr<sched::Scheduler> scheduler_;  // borrows the runner's pool
  std::unordered_map<int64_t, std::unique_ptr<ActiveRequest>> requests_;
  std::vector<int64_t> paused_;  // requests whose stream is full
  std::unordered_map<std::string, uint64_t> salts_;
  uint64_t next_salt_ = 1;

  // Of the present step; kept so that a steady state allocates nothing.
  std::vector<StepRows> rows_;
  std::vector<Choice> choices_;
  std::vector<sample::SampleScratch> scratches_;  // one for each worker
  std::vector<ActiveRequest*> beam_requests_;
  std::vector<ActiveRequest*> ended_;
  std::unordered_map<const sched::Sequence*, std::vector<sample::TokenLogprob>> beam_candidates_;
  const sched::StepPlan* last_plan_ = nullptr;
  int64_t cancelled_ = 0;
  int64_t missed_deadlines_ = 0;
  double plan_seconds_ = 0.0;
  double model_seconds_ = 0.0;
  double sample_seconds_ = 0.0;
  double mask_seconds_ = 0.0;
  double last_step_s_ = 0.0;
};

}  // namespace adit::engine

#endif  // ADIT_ENGINE_ENGINE_CORE_H_
