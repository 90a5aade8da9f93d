#ifndef ADIT_CLI_ENGINE_LOAD_H_
#define ADIT_CLI_ENGINE_LOAD_H_

#include "adit/status.h"
#include "cli/bench_run.h"
#include "engine/engine_options.h"
#include "engine/loaded_model.h"
#include "sched/load_summary.h"
#include "sched/workload.h"

namespace adit::cli {

// Serves the workload with an engine made for it, in real time: requests arrive at their time, or at the end of the
// step that runs then; each gets greedy tokens, past those that would end it, until it has its length. The engine runs
// on the calling thread, so that the processors are its own. A request that is refused counts as such; an error of the
// engine itself is returned. The engine's tenants are the workload's; `progress` is told after each step.
Result<BenchRun> ServeWithEngine(const engine::LoadedModel& model, engine::EngineOptions options,
                                 const sched::Workload& workload, const sched::Objectives& objectives,
                                 const LoadProgress& progress);

}  // namespace adit::cli

#endif  // ADIT_CLI_ENGINE_LOAD_H_
