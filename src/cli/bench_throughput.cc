// adit bench throughput.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/error.h"
#include "cli/bench_run.h"
#include "cli/commands.h"
#include "cli/engine_load.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "engine/engine_options.h"
#include "engine/machine.h"

namespace adit::cli {
Result<int> Run(const BenchThroughputOptions& options) {
  const BenchOptions& bench = options.bench;
  if (bench.scheduler.groups.block_size % 16 != 0) {
    return InvalidArgument("--block-size: {} is no multiple of 16", bench.scheduler.groups.block_size);
  }
  ADIT_ASSIGN_OR_RETURN(ReportSink sink, ReportSink::Open(bench.output_file));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<engine::LoadedModel> model, LoadModel(options.model, options.engine));
  ADIT_ASSIGN_OR_RETURN(const engine::KvTypes kv_types, ChosenKvTypes(options.engine));
  const int64_t usual = std::max(bench.scheduler.max_num_seqs * kKvTokensPerSequence, model->spec().context_length);
  ADIT_ASSIGN_OR_RETURN(const int64_t kv_tokens, options.memory
                                                     ? KvTokensWithinMemory(*options.memory, usual, *model, kv_types)
                                                     : ChosenKvTokens(KvTokensOf(bench), usual, *model, kv_types));
  ADIT_ASSIGN_OR_RETURN(const sched::Workload workload,
                        MakeWorkload(bench, static_cast<int32_t>(model->spec().vocab_size)));
  const ServeLoad serve = [&](const sched::SchedulerOptions& scheduler,
                              const LoadProgress& progress) -> Result<BenchRun> {
    engine::EngineOptions engine;
    engine.scheduler = scheduler;
    engine.kv_types = kv_types;
    engine.block_size = static_cast<int>(scheduler.groups.block_size);
    engine.kv_tokens = kv_tokens;
    return ServeWithEngine(*model, std::move(engine), workload, bench.objectives, progress);
  };
  ADIT_ASSIGN_OR_RETURN(BenchReport report, RunBench(bench, workload, serve));
  report.title = "adit bench throughput";
  report.settings.insert(report.settings.begin(), {"model", options.model});
  report.settings.push_back({"kv_tokens", kv_tokens});
  report.settings.push_back({"kv_type", options.engine.kv_type.value_or("auto")});
  report.settings.push_back({"processor", engine::ReadMachine().cpu_model});
  report.settings.push_back({"kernels", std::string(model->kernels().name)});
  report.settings.push_back({"threads", static_cast<int64_t>(model->num_threads())});
  ADIT_RETURN_IF_ERROR(sink.Write(RenderReport(report, bench.format)));
  return kExitOk;
}

}  // namespace adit::cli
