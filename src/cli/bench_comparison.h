#ifndef ADIT_CLI_BENCH_COMPARISON_H_
#define ADIT_CLI_BENCH_COMPARISON_H_

#include <span>
#include <string>

#include "adit/status.h"
#include "cli/bench_report.h"

namespace adit::cli {

// Two servers that have had the same requests: run i of one beside run i of the other. Numbers are medians over the
// rounds, how many times better one is comes from each round by itself. Precondition: as many runs of both, at least
// one.
BenchComparison CompareRuns(const std::string& with, std::span<const BenchRun> ours, std::span<const BenchRun> theirs);

// A run beside an earlier JSON report of a load. InvalidArgument when `earlier` is none.
Result<BenchComparison> CompareWithReport(const std::string& with, const std::string& earlier, const BenchRun& ours);

}  // namespace adit::cli

#endif  // ADIT_CLI_BENCH_COMPARISON_H_
