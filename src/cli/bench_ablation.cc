// RunBench.
#include <utility>

#include "base/error.h"
#include "cli/bench_run.h"
#include "cli/output.h"
#include "cli/progress_bar.h"

namespace adit::cli {
namespace {

// A number of a run that tells what a technique is worth.
struct Measure {
  std::string_view key;
  std::string_view label;
  bool lower_is_better;
  double (*value)(const sched::LoadSummary&);
};

constexpr Measure kOutputRate = {"output_tokens_per_s", "output tokens/s", false,
                                 [](const sched::LoadSummary& s) { return s.output_tokens_per_s; }};
constexpr Measure kMeanTtft = {"ttft_mean_ms", "TTFT mean (ms)", true,
                               [](const sched::LoadSummary& s) { return s.ttft_s.mean * 1e3; }};
constexpr Measure kTailItl = {"itl_p99_ms", "ITL p99 (ms)", true,
                              [](const sched::LoadSummary& s) { return s.itl_s.p99 * 1e3; }};
constexpr Measure kMeanE2e = {"e2e_mean_s", "end to end mean (s)", true,
                              [](const sched::LoadSummary& s) { return s.e2e_s.mean; }};
constexpr const Measure* kMeasures[] = {&kOutputRate, &kMeanTtft, &kTailItl, &kMeanE2e};

// A technique that is on, and the options without it.
struct Technique {
  std::string name;
  std::string instead;
  const Measure* primary;
  sched::SchedulerOptions without;
};

std::vector<Technique> TechniquesOf(const sched::SchedulerOptions& options) {
  std::vector<Technique> techniques;
  const auto add = [&](const char* name, const char* instead, const Measure& primary, auto change) {
    techniques.push_back({name, instead, &primary, options});
    change(techniques.back().without);
  };
  using Options = sched::SchedulerOptions;
  if (options.max_num_seqs > 1) {
    add("batching", "one sequence at a time", kOutputRate, [](Options& o) { o.max_num_seqs = 1; });
  }
  if (options.batching == sched::Batching::kContinuous && options.max_num_seqs > 1) {
    add("continuous_batching", "a batch runs whole until its last member ends", kOutputRate,
        [](Options& o) { o.batching = sched::Batching::kStatic; });
  }
  if (options.prefix_cache) {
    add("prefix_cache", "every prompt computed whole", kMeanTtft, [](Options& o) { o.prefix_cache = false; });
  }
  if (options.chunked_prefill) {
    add("chunked_prefill", "a prompt runs whole in one step", kTailItl, [](Options& o) { o.chunked_prefill = false; });
  }
  if (options.itl_target_s > 0.0) {
    add("itl_target", "chunks as large as the step allows", kTailItl, [](Options& o) { o.itl_target_s = 0.0; });
  }
  if (options.policy != sched::Policy::kFcfs) {
    add("policy", "first come, first served", kMeanE2e, [](Options& o) { o.policy = sched::Policy::kFcfs; });
  }
  return techniques;
}

// Of one way to run, all repeats.
double MedianOfRuns(const std::vector<sched::LoadSummary>& runs, const Measure& measure) {
  std::vector<double> values;
  for (const sched::LoadSummary& run : runs) values.push_back(measure.value(run));
  return MedianOf(std::move(values));
}

LedgerRow RowOf(const Technique& technique, const std::vector<sched::LoadSummary>& with,
                const std::vector<sched::LoadSummary>& without) {
  LedgerRow row{.technique = technique.name, .instead = technique.instead, .metrics = {}};
  const auto add = [&](const Measure& measure) {
    row.metrics.push_back({.key = std::string(measure.key),
                           .label = std::string(measure.label),
                           .lower_is_better = measure.lower_is_better,
                           .with = MedianOfRuns(with, measure),
                           .without = MedianOfRuns(without, measure)});
  };
  add(*technique.primary);
  for (const Measure* measure : kMeasures) {
    if (measure != technique.primary) add(*measure);
  }
  return row;
}

}  // namespace

Result<BenchReport> RunBench(const BenchOptions& options, const sched::Workload& workload, const ServeLoad& serve) {
  std::vector<Technique> techniques;
  if (options.ablate) techniques = TechniquesOf(options.scheduler);
  const auto total = static_cast<double>(options.repeat) * static_cast<double>(techniques.size() + 1);
  std::vector<BenchRun> runs;
  std::vector<sched::LoadSummary> with;
  std::vector<std::vector<sched::LoadSummary>> without(techniques.size());
  {
    ProgressBar bar(Stderr(), "Serving");
    int64_t done = 0;
    const auto run = [&](const sched::SchedulerOptions& scheduler) {
      const auto progress = [&](double share) { bar.Update((static_cast<double>(done) + share) / total); };
      progress(0.0);
      Result<BenchRun> result = serve(scheduler, progress);
      ++done;
      return result;
    };
    for (int64_t i = 0; i < options.repeat; ++i) {
      ADIT_ASSIGN_OR_RETURN(BenchRun whole, run(options.scheduler));
      with.push_back(whole.summary);
      runs.push_back(std::move(whole));
      for (size_t k = 0; k < techniques.size(); ++k) {
        ADIT_ASSIGN_OR_RETURN(const BenchRun reduced, run(techniques[k].without));
        without[k].push_back(reduced.summary);
      }
    }
  }
  BenchReport report{.title = {},
                     .settings = SettingsOf(options, workload),
                     .tenants = {},
                     .run = std::move(runs[MiddleRun(runs)]),
                     .repeats = options.repeat,
                     .ledger = {}};
  for (const sched::WorkloadTenant& tenant : workload.tenants()) report.tenants.push_back(tenant.name);
  for (size_t k = 0; k < techniques.size(); ++k) report.ledger.push_back(RowOf(techniques[k], with, without[k]));
  return report;
}

}  // namespace adit::cli
