// adit bench simulate.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "cli/bench_run.h"
#include "cli/commands.h"
#include "cli/exit_code.h"

namespace adit::cli {
namespace {

// Enough for 64 conversations of 2,048 tokens.
constexpr int64_t kDefaultKvTokens = 131072;
// As large as those of usual models; no two prompts are alike by chance.
constexpr int32_t kVocabSize = 32000;

Result<int32_t> NumPages(int64_t kv_tokens, int64_t block_size) {
  const int64_t pages = (kv_tokens + block_size - 1) / block_size;
  if (pages > std::numeric_limits<int32_t>::max() / 2) {
    return InvalidArgument("--kv-tokens: {} tokens are {} pages; at most {}", kv_tokens, pages,
                           std::numeric_limits<int32_t>::max() / 2);
  }
  return static_cast<int32_t>(pages);
}

}  // namespace

Result<int> Run(const BenchSimulateOptions& options) {
  BenchOptions bench = options.bench;
  const int64_t kv_tokens = KvTokensOf(bench).value_or(kDefaultKvTokens);
  ADIT_ASSIGN_OR_RETURN(const int32_t num_pages, NumPages(kv_tokens, bench.scheduler.groups.block_size));
  // The scheduler lowers it to what fits.
  bench.scheduler.max_context = std::max<int64_t>(2, kv_tokens);
  ADIT_ASSIGN_OR_RETURN(const sched::Workload workload, MakeWorkload(bench, kVocabSize));
  ADIT_ASSIGN_OR_RETURN(ReportSink sink, ReportSink::Open(bench.output_file));
  const ServeLoad serve = [&](const sched::SchedulerOptions& scheduler,
                              const LoadProgress& progress) -> Result<BenchRun> {
    const sched::SimulatorOptions simulator{.scheduler = scheduler,
                                            .num_pages = num_pages,
                                            .cost = options.cost,
                                            .objectives = bench.objectives,
                                            .progress = progress};
    ADIT_ASSIGN_OR_RETURN(sched::SimulationResult result, sched::Simulate(workload, simulator));
    return BenchRun{.summary = std::move(result.summary), .timeline = result.timeline.Points()};
  };
  ADIT_ASSIGN_OR_RETURN(BenchReport report, RunBench(bench, workload, serve));
  report.title = "adit bench simulate";
  report.settings.push_back({"kv_tokens", kv_tokens});
  report.settings.push_back({"cost", fmt::format("{:g} ms + {:g} us a prompt token + {:g} us a decode + {:g} ns a "
                                                 "cached position",
                                                 options.cost.base_s * 1e3, options.cost.prefill_s * 1e6,
                                                 options.cost.decode_s * 1e6, options.cost.context_s * 1e9)});
  ADIT_RETURN_IF_ERROR(sink.Write(RenderReport(report, bench.format)));
  return kExitOk;
}

}  // namespace adit::cli
