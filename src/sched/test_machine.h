#ifndef ADIT_SCHED_TEST_MACHINE_H_
#define ADIT_SCHED_TEST_MACHINE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "kv/block_pool.h"
#include "sched/scheduler.h"

namespace adit::sched {

// Runs a scheduler's plans on pages that hold numbers instead of keys and values: what the place of position p holds is
// a function of the token there, of the place of p - 1 and, where the layers look back a window, of the oldest place
// they see, all read through the sequence's block tables. So a page that is wrong, stale or was given to another shows
// as another number, and as another answer: the next token is a function of the last number.
class TestMachine {
 public:
  TestMachine(SchedulerOptions options, int32_t num_pages);
  ~TestMachine();

  Scheduler& scheduler() { return *scheduler_; }
  const kv::BlockPool& pool() const { return pool_; }
  double now_s() const { return now_s_; }
  void Wait(double seconds) { now_s_ += seconds; }

  Result<Sequence*> Submit(RequestSpec spec);
  // Plans and runs one step, checking the plan and all pages that it reads; appends a token to each sequence whose last
  // known token has run, or finishes it at its max_tokens. False when the plan was empty.
  bool Step();
  // Steps until nobody waits or runs; fails the test after `most_steps`.
  void RunAll(int64_t most_steps);
  void Cancel(int64_t id);

  // Answers of the sequences that finished, by id.
  const std::map<int64_t, std::vector<int32_t>>& answers() const { return answers_; }
  // Live sequences by id.
  const std::map<int64_t, Sequence*>& live() const { return live_; }
  // What a sequence alone would answer.
  std::vector<int32_t> Expected(std::vector<int32_t> prompt, int64_t max_tokens) const;

  // Called for each sequence that has got a token and goes on; may fork or finish sequences.
  std::function<void(Sequence&)> on_token;
  // Largest step, in tokens, and most sequences in one, so far.
  int64_t most_step_tokens = 0;
  int64_t most_step_seqs = 0;
  int64_t num_hopeless = 0;
  const StepPlan* last_plan = nullptr;

  void Finish(Sequence& sequence, bool completed);
  Sequence& Fork(Sequence& parent);

 private:
  uint64_t& Place(const Sequence& sequence, size_t group, int64_t position);
  void CheckTenants() const;
  void RunRows(const PlannedRows& rows);
  uint64_t Number(uint64_t before, uint64_t oldest, int32_t token, bool is_long) const;
  int32_t NextToken(uint64_t number) const { return static_cast<int32_t>(number >> 33) % 50; }

  const SchedulerOptions options_;
  kv::BlockPool pool_;
  std::unique_ptr<Scheduler> scheduler_;
  std::vector<uint64_t> memory_;  // [num_pages, block_size]
  std::map<int64_t, Sequence*> live_;
  std::map<int64_t, std::vector<int32_t>> answers_;
  double now_s_ = 0.0;
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_TEST_MACHINE_H_
