#ifndef ADIT_SCHED_SCHEDULER_H_
#define ADIT_SCHED_SCHEDULER_H_

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "adit/status.h"
#include "base/histogram.h"
#include "kv/block_pool.h"
#include "kv/prefix_tree.h"
#include "sched/fair_share.h"
#include "sched/held_back.h"
#include "sched/options.h"
#include "sched/output_estimator.h"
#include "sched/sequence.h"
#include "sched/step_plan.h"
#include "sched/step_time_model.h"
#include "sched/waiting_queue.h"

namespace adit::sched {

// Bounds of the classes that steps are counted in by how many tokens they compute; those of vLLM.
inline constexpr std::array<double, 13> kStepTokenBounds = {1,   8,    16,   32,   64,   128,  256,
                                                            512, 1024, 2048, 4096, 8192, 16384};

// What has happened so far.
struct SchedulerCounters {
  int64_t submitted = 0;
  int64_t finished = 0;
  int64_t preemptions = 0;
  int64_t recomputed_tokens = 0;  // lost to preemptions and run again
  int64_t steps = 0;
  int64_t prompt_tokens = 0;  // computed
  int64_t output_tokens = 0;
  int64_t step_sequences = 0;               // sequences that took part in a step, summed over steps
  int64_t last_step_sequences = 0;          // those of the last one
  int64_t longest_sequence = 0;             // most tokens that a sequence has held
  Histogram<kStepTokenBounds> step_tokens;  // that a step computed, of prompts and answers
};

// How the pages are used now.
struct PageUse {
  int64_t num_pages = 0;
  int64_t num_free = 0;
  int64_t num_cached = 0;      // held by the prefix cache alone, given up on demand
  int64_t written_tokens = 0;  // token places of running sequences that hold a token, summed over groups
  int64_t held_tokens = 0;     // that their pages offer
  // Share of the places that are held but not written.
  double waste() const {
    return held_tokens == 0 ? 0.0 : 1.0 - static_cast<double>(written_tokens) / static_cast<double>(held_tokens);
  }
};

// Decides which tokens of which sequences run in each step (iteration-level scheduling: Orca, Yu et al. 2022, with
// chunked prefill: Sarathi-Serve, Agrawal et al. 2024), takes and gives back their pages, and keeps finished prefixes.
// Arithmetic on ids: the same calls give the same plans. A step goes
//   Plan -> the caller copies pages and runs the rows -> Commit -> Append or Finish for each row that wanted logits.
//
// Invariants:
// 1. A plan has at most max_batch_tokens tokens and rows of at most max_num_seqs sequences; without chunked prefill a
//    prompt that is longer than a step runs alone beside the decodes.
// 2. A sequence holds pages for the tokens it has computed and those of the present plan, for no others.
// 3. Every sequence that is not paused ends in finitely many steps: no policy passes one over for ever, and the one
//    that ranks first is never preempted but for 4, once.
// 4. All cached tokens of a sequence, and those that it adopts, were computed for a sequence that is long as it is
//    (SchedulerOptions::short_length).
// 5. The running sequences of a tenant have no more tokens than the least limit of theirs (RequestSpec::tenant_tokens),
//    when a plan begins, unless they are of one request.
// 6. When all sequences have finished and the prefix cache is cleared, all pages are free.
//
// Engine thread only. The pool outlives it.
class Scheduler {
 public:
  static Result<std::unique_ptr<Scheduler>> Create(SchedulerOptions options, kv::BlockPool& pool);
  ~Scheduler();

  // Takes a request in. InvalidArgument when it can never run here (context, pages, seats), with the numbers;
  // ResourceExhausted when the queue is full; DeadlineExceeded when its objective cannot be met any more. The sequence
  // lives until Finish.
  Result<Sequence*> Submit(RequestSpec spec, double now_s);

  // The next step; empty when nothing can run. Valid until the next call.
  const StepPlan& Plan(double now_s);
  // The rows of the plan have run, in `step_seconds`.
  void Commit(double now_s, double step_seconds);

  // A token has been chosen for a sequence whose known tokens are all computed.
  void Append(Sequence& sequence, int32_t token);
  // A sequence that goes on from the same tokens; shares all pages. Precondition: `parent` runs and takes more than one
  // seat, or is in lockstep.
  Sequence& Fork(Sequence& parent);
  // Ends a sequence, in whatever phase: its pages are free or cached at once. `completed`: its length teaches the
  // estimator. The reference is dead after. With static batching the rows of a completed sequence stay in the plans
  // until its batch ends, without an owner; they change nothing.
  void Finish(Sequence& sequence, bool completed);
  // A paused sequence, with all its gang, gets no steps, is the first to be preempted, and then does not even wait.
  void SetPaused(Sequence& sequence, bool paused);

  // Cuts the ties to all cached prefixes.
  void ClearPrefixCache();

  const SchedulerOptions& options() const { return options_; }
  int64_t num_running() const { return static_cast<int64_t>(running_.size()); }
  // For the machine, or for others of their tenant.
  int64_t num_waiting() const { return waiting_.size() + held_back_.size(); }
  int64_t num_held_back() const { return held_back_.size(); }
  const SchedulerCounters& counters() const { return counters_; }
  const kv::PrefixTree& prefix_tree() const { return tree_; }
  const FairShare& fair_share() const { return fair_; }
  const StepTimeModel& step_time() const { return step_time_; }
  PageUse page_use() const;
  // Tokens that the longest sequence may have.
  int64_t max_context() const { return options_.max_context; }
  // Seconds until a request that came now would begin, as far as what waits and runs tells.
  double EstimatedQueueSeconds() const;

 private:
  Scheduler(SchedulerOptions options, kv::BlockPool& pool);

  // Submit.
  Status CheckFits(const RequestSpec& spec) const;
  Status CheckQueue(const RequestSpec& spec) const;
  double PredictWork(const Sequence& sequence) const;
  double SecondsPerOutputToken() const;
  double RankOf(const Sequence& sequence) const;
  Sequence& NewSequence();
  void Enqueue(Sequence& sequence);

  // Plan.
  void PlanDecodes();
  void PlanPrefills();
  void PlanAdmissions(double now_s);
  void PlanIdle();
  bool Admit(Sequence& front, double now_s);
  void Adopt(Sequence& sequence);
  void Start(Sequence& sequence, double now_s);
  bool MakeRoomByPolicy(const Sequence& front);
  bool IsHopeless(const Sequence& sequence, double now_s) const;
  void PlanChunk(Sequence& sequence);
  void PlanRows(Sequence& sequence, int64_t num_tokens);
  int64_t RunnableTokens(const Sequence& sequence) const;
  int64_t PrefillRoom() const;
  bool Grow(Sequence& sequence, int64_t num_tokens);
  int64_t AvailablePages() const;
  bool FreePages(int64_t num_pages);
  int64_t OutstandingPages(const Sequence& sequence) const;

  bool IsLong(const Sequence& sequence) const {
    return options_.short_length > 0 && sequence.num_tokens() > options_.short_length;
  }
  static uint64_t TreeSalt(const Sequence& sequence, bool is_long);
  void RestartOutgrown();
  void CountStep();

  // Tenants.
  int64_t TokensOfTenant(int32_t tenant) const;
  bool FitsTenant(const Sequence& sequence, int64_t more_tokens) const;
  void PreemptWithinTenants();
  void ReleaseHeldBack();
  bool HoldBack(Sequence& front);
  void LeaveQueue(Sequence& sequence);

  // Preemption.
  Sequence* Victim() const;
  bool GivesWayBefore(const Sequence& a, const Sequence& b) const;
  void Preempt(Sequence& victim);
  void PreemptOne(Sequence& victim);
  void DropRows(const Sequence& sequence);

  void StoreInTree(Sequence& sequence);
  void LeaveRunning(Sequence& sequence);
  void GiveUpSeat(const Sequence& sequence);
  void DropIdle();
  void EndIdle();

  // Constant after construction.
  const SchedulerOptions options_;
  kv::BlockPool& pool_;

  kv::PrefixTree tree_;
  FairShare fair_;
  OutputEstimator estimator_;
  StepTimeModel step_time_;
  WaitingQueue waiting_;
  HeldBack held_back_;
  bool any_tenant_limit_ = false;   // whether any request had one
  std::vector<Sequence*> running_;  // in the order in which they began
  std::vector<Sequence*> idle_;     // of the present static batch; their pages are the first to go
  std::unordered_map<int64_t, std::unique_ptr<Sequence>> sequences_;
  std::vector<std::unique_ptr<Gang>> gangs_;
  StepPlan plan_;
  std::vector<Sequence*> order_;    // scratch of Plan
  std::vector<Sequence*> members_;  // scratch of Admit and Preempt
  SchedulerCounters counters_;
  int64_t next_id_ = 0;
  int64_t seats_taken_ = 0;
  int64_t committed_tokens_ = 0;       // that the running sequences may come to
  double mean_decodes_ = 1.0;          // of steps that decode
  bool batch_open_ = true;             // of static batching: the batch still takes members
  const Sequence* blocked_ = nullptr;  // the front that did not fit the last time
  int64_t blocked_pages_ = 0;          // spare pages then
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_SCHEDULER_H_
