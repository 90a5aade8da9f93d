#ifndef ADIT_SCHED_STEP_PLAN_H_
#define ADIT_SCHED_STEP_PLAN_H_

#include <cstdint>
#include <vector>

#include "kv/sequence_pages.h"
#include "sched/sequence.h"
#include "sched/step_time_model.h"

namespace adit::sched {

// Tokens of one sequence that run in a step: those at positions first_position .. first_position + num_tokens - 1.
struct PlannedRows {
  Sequence* sequence = nullptr;
  int64_t first_position = 0;
  int64_t num_tokens = 0;
  bool wants_logits = false;  // of the last of them: it is the last known token, and the answer has not ended
};

// What one step does.
struct StepPlan {
  std::vector<kv::BlockCopy> copies;  // made before the rows run, in this order
  std::vector<PlannedRows> rows;      // decodes first
  std::vector<Sequence*> hopeless;    // wait for a first token that can no longer come in time; the caller ends them
  StepLoad load;                      // of rows
  int64_t num_preempted = 0;

  int64_t num_tokens() const { return load.prefill_tokens + load.decodes; }
};

}  // namespace adit::sched

#endif  // ADIT_SCHED_STEP_PLAN_H_
