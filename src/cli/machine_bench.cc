#include "cli/machine_bench.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <utility>

#include "adit/version.h"
#include "base/cpus.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/bench_run.h"
#include "cli/input.h"
#include "cli/revision.h"
#include "cli/units.h"
#include "engine/machine.h"
#include "plan/multiplier.h"
#include "plan/read_rate.h"

namespace adit::cli {
namespace {

std::string Now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc = {};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

Result<std::vector<int64_t>> ParseCounts(std::string_view text, int64_t low, int64_t high) {
  std::vector<int64_t> counts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    ADIT_ASSIGN_OR_RETURN(const int64_t count, ParseCount(text.substr(begin, end - begin)));
    if (count < low || count > high) return InvalidArgument("{} is not in {}..{}", count, low, high);
    counts.push_back(count);
    begin = end + 1;
  }
  return counts;
}

std::vector<int64_t> ThreadCounts(const std::vector<int64_t>& wanted) {
  return wanted.empty() ? std::vector<int64_t>{NumAvailableCpus()} : wanted;
}

std::vector<BenchSetting> MachineSettings() {
  const engine::Machine machine = engine::ReadMachine();
  std::vector<BenchSetting> settings = {{"processor", machine.cpu_model},
                                        {"cpus", static_cast<int64_t>(machine.num_cpus)}};
  for (const engine::CpuCache& cache : machine.caches) {
    if (cache.type == "Instruction") continue;
    settings.push_back({fmt::format("l{}_bytes", cache.level), cache.size_bytes});
  }
  settings.push_back({"memory_bytes", machine.memory_bytes});
  settings.push_back({"huge_pages", machine.transparent_huge_pages});
  settings.push_back({"version", std::string(kVersion)});
  settings.push_back({"revision", std::string(Revision())});
  settings.push_back({"date", Now()});
  return settings;
}

std::vector<std::string> MachineKeys() { return {"processor", "cpus", "l2_bytes", "l3_bytes"}; }

BenchSetting OtherLoad(const plan::ForeignLoad& load) {
  const double share = load.Share();
  if (share < 0.0) return {"other_load", std::string("unknown")};
  return {"other_load", std::round(share * 1000.0) / 1000.0};
}

Result<plan::MachineLimits> MeasureLimits(WorkerTeam& team, const kernels::KernelTable& kernels, size_t read_bytes) {
  plan::MachineLimits limits;
  ADIT_ASSIGN_OR_RETURN(limits.read_bytes_per_s, plan::MeasureReadRate(team, read_bytes));
  for (const plan::Multiplier& multiplier : plan::Multipliers()) {
    // A set has the multipliers of those that its name starts with.
    if (!std::string_view(kernels.name).starts_with(multiplier.set)) continue;
    if (multiplier.type == "int8") limits.q8_ops_per_s = plan::MeasureOps(team, multiplier);
    if (multiplier.type == "bf16") limits.bf16_ops_per_s = plan::MeasureOps(team, multiplier);
    if (multiplier.type == "f32") limits.f32_ops_per_s = plan::MeasureOps(team, multiplier);
  }
  return limits;
}

void AddLimits(const plan::MachineLimits& limits, int64_t num_threads, TableReport& report) {
  const auto add = [&](const char* what, double per_s) {
    if (per_s > 0.0) report.settings.push_back({fmt::format("{}_per_s_{}_threads", what, num_threads), per_s});
  };
  add("read_bytes", limits.read_bytes_per_s);
  add("int8_ops", limits.q8_ops_per_s);
  add("bf16_ops", limits.bf16_ops_per_s);
  add("f32_ops", limits.f32_ops_per_s);
}

Spread3 SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t middle = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
  return {.median = median, .least = values.front(), .most = values.back()};
}

Status WriteTable(const MachineBenchOptions& options, const std::string& key, TableReport report) {
  if (options.compare) {
    ADIT_ASSIGN_OR_RETURN(const std::string earlier, ReadFileOrStdin(*options.compare));
    ADIT_RETURN_IF_ERROR(CompareWith(earlier, key, MachineKeys(), report));
  }
  ADIT_ASSIGN_OR_RETURN(ReportSink sink, ReportSink::Open(options.output_file));
  return sink.Write(RenderTable(report, options.format));
}

}  // namespace adit::cli
