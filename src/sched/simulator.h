#ifndef ADIT_SCHED_SIMULATOR_H_
#define ADIT_SCHED_SIMULATOR_H_

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "sched/load_summary.h"
#include "sched/scheduler.h"
#include "sched/timeline.h"
#include "sched/workload.h"

namespace adit::sched {

// What a step of a model takes: base_s + prefill_s for each row of a prompt + decode_s for each row past it + context_s
// for each cached position that rows attend to (StepLoad). The default is about a model of 1 B weights on a server's
// processor: the weights are read in base_s, each row is a share of the arithmetic.
struct StepCost {
  double base_s = 10e-3;
  double prefill_s = 200e-6;
  double decode_s = 250e-6;
  double context_s = 100e-9;

  double Seconds(const StepLoad& load) const;
};

// "BASE_MS,PREFILL_US,DECODE_US,CONTEXT_NS", none below 0 and not all 0. InvalidArgument that names the text.
Result<StepCost> ParseStepCost(std::string_view text);

struct SimulatorOptions {
  SchedulerOptions scheduler;  // its tenants are the workload's
  int32_t num_pages = 0;
  StepCost cost;
  Objectives objectives;  // that requests declare
  // Told of each step that is about to run, at what time; may be empty.
  std::function<void(const Scheduler&, const StepPlan&, double)> on_plan;
  // Told after each step what share of the requests have ended; may be empty.
  std::function<void(double)> progress;
};

struct SimulationResult {
  std::vector<RequestOutcome> outcomes;  // [num_requests]
  LoadSummary summary;
  Timeline timeline;
  int64_t leaked_pages = 0;  // still in use after all requests had ended and the prefix cache was cleared: none
};

// Serves the workload with the scheduler itself, and a cost model in the place of a model, in virtual time. Requests
// arrive at their time, or at the end of the step that runs then; answers are Workload::AnswerToken, of the workload's
// length. Tenants do not share cached prefixes. The same arguments give the same result bit for bit. InvalidArgument or
// ResourceExhausted where the scheduler's options are wrong; Internal when it plans nothing for those that wait.
Result<SimulationResult> Simulate(const Workload& workload, const SimulatorOptions& options);

// The workload's tenants, as the scheduler takes them.
std::vector<Tenant> TenantsOf(const Workload& workload);

}  // namespace adit::sched

#endif  // ADIT_SCHED_SIMULATOR_H_
