#ifndef ADIT_CLI_BENCH_RUN_H_
#define ADIT_CLI_BENCH_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adit/status.h"
#include "cli/bench_options.h"
#include "cli/bench_report.h"
#include "sched/workload.h"

// What the benchmarks of load share: the workload that was asked for, the runs with and without each technique, and
// where the report goes. What serves the load is the caller's.
namespace adit::cli {

// The workload of the options. `vocab_size`: tokens are 0..vocab_size-1. InvalidArgument for what is wrong in them or
// in the trace that they name.
Result<sched::Workload> MakeWorkload(const BenchOptions& options, int32_t vocab_size);

// Tokens that the cache is to hold, as far as the options say.
std::optional<int64_t> KvTokensOf(const BenchOptions& options);

// Told what share of the requests have ended, 0 to 1.
using LoadProgress = std::function<void(double)>;
// Serves the workload once, as these options of the scheduler say.
using ServeLoad = std::function<Result<BenchRun>(const sched::SchedulerOptions&, const LoadProgress&)>;

// Runs the load `repeat` times; with `ablate` each time also without each technique that is on, one after another, so
// that what drifts on the machine meets all alike. The report has the run of median output_tokens_per_s, and medians in
// its ledger; the caller fills in what it alone knows.
Result<BenchReport> RunBench(const BenchOptions& options, const sched::Workload& workload, const ServeLoad& serve);

// Opens the file for a report before the run, so that a wrong path costs no run, and writes it after.
class ReportSink {
 public:
  // To stdout without a path. InvalidArgument when the file cannot be written.
  static Result<ReportSink> Open(const std::optional<std::string>& path);
  ReportSink(ReportSink&& other) noexcept;
  ReportSink& operator=(ReportSink&&) = delete;
  ~ReportSink();

  Status Write(const std::string& text);

 private:
  ReportSink(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  int fd_;  // -1: stdout
  std::string path_;
};

// The settings of the options, as a report tells them.
std::vector<BenchSetting> SettingsOf(const BenchOptions& options, const sched::Workload& workload);
// Of these, those that describe the load.
std::vector<BenchSetting> LoadSettingsOf(const BenchOptions& options, const sched::Workload& workload);
// The index of the run in the middle by output rate, the lower one of two. Precondition: there is a run.
size_t MiddleRun(const std::vector<BenchRun>& runs);
double MedianOf(std::vector<double> values);

}  // namespace adit::cli

#endif  // ADIT_CLI_BENCH_RUN_H_
