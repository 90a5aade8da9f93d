#ifndef ADIT_CLI_BENCH_OPTIONS_H_
#define ADIT_CLI_BENCH_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "cli/bench_report.h"
#include "cli/table_report.h"
#include "sched/length_distribution.h"
#include "sched/load_summary.h"
#include "sched/options.h"
#include "sched/simulator.h"
#include "sched/workload.h"

namespace adit::cli {

// What `adit bench simulate` and `adit bench throughput` have in common. A member that is nullopt was not given.
struct BenchOptions {
  // The load. "random": lengths of 512 and 128; "chat": log-normal lengths; else a file with a trace.
  std::string dataset = "random";
  std::optional<sched::LengthDistribution> input_len;
  std::optional<sched::LengthDistribution> output_len;
  std::optional<int64_t> num_prompts;
  sched::WorkloadOptions workload;  // lengths and number apart
  sched::Objectives objectives;

  // The machine that serves it. Unlimited queues, so that nothing is refused unless asked for.
  sched::SchedulerOptions scheduler{.max_queued_requests = 0};
  std::optional<int64_t> kv_tokens;
  std::optional<int64_t> pages;  // instead of kv_tokens

  ReportFormat format = ReportFormat::kMarkdown;
  std::optional<std::string> output_file;
  bool ablate = false;
  int64_t repeat = 1;
};

// What the benchmarks of one machine have in common.
struct MachineBenchOptions {
  TableFormat format = TableFormat::kMarkdown;
  std::optional<std::string> output_file;
  std::optional<std::string> compare;  // an earlier JSON report
  int64_t repetitions = 5;
};

}  // namespace adit::cli

#endif  // ADIT_CLI_BENCH_OPTIONS_H_
