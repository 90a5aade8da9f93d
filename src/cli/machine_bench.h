#ifndef ADIT_CLI_MACHINE_BENCH_H_
#define ADIT_CLI_MACHINE_BENCH_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "adit/status.h"
#include "base/worker_team.h"
#include "cli/bench_options.h"
#include "cli/table_report.h"
#include "kernels/kernel_table.h"
#include "plan/cpu_load.h"
#include "plan/model_work.h"

// What `adit bench roofline`, `kernels`, `model` and `startup` have in common: numbers of one machine.
namespace adit::cli {

// "1,2,4" as whole numbers in [low, high]; InvalidArgument otherwise.
Result<std::vector<int64_t>> ParseCounts(std::string_view text, int64_t low, int64_t high);

// Thread counts to measure at: those asked for, or all CPUs of this process.
std::vector<int64_t> ThreadCounts(const std::vector<int64_t>& wanted);

// What tells one machine from another, and the version: settings of every report, begin of its table of settings.
std::vector<BenchSetting> MachineSettings();
// The settings in which two machines differ.
std::vector<std::string> MachineKeys();

// The share of the machine that other processes took meanwhile, as a setting.
BenchSetting OtherLoad(const plan::ForeignLoad& load);

// Measures what bounds products of `kernels` by a team, with weights of read_bytes. Limits that are not known are 0.
Result<plan::MachineLimits> MeasureLimits(WorkerTeam& team, const kernels::KernelTable& kernels, size_t read_bytes);

// What is known of them, as settings.
void AddLimits(const plan::MachineLimits& limits, int64_t num_threads, TableReport& report);

struct Spread3 {
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
};
Spread3 SpreadOf(std::vector<double> values);

// Compares where asked to, renders and writes. `key`: the number that is compared.
Status WriteTable(const MachineBenchOptions& options, const std::string& key, TableReport report);

}  // namespace adit::cli

#endif  // ADIT_CLI_MACHINE_BENCH_H_
