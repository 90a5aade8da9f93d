// adit bench roofline.
#include <fmt/core.h>

#include <memory>
#include <utility>

#include "base/cpus.h"
#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/machine_bench.h"
#include "cli/units.h"
#include "engine/machine.h"
#include "plan/multiplier.h"
#include "plan/read_rate.h"

namespace adit::cli {
namespace {

// From what a first-level cache holds to four times the largest cache and at least 512 MB, by factors of four.
std::vector<size_t> SizesToRead() {
  size_t largest_cache = size_t{32} << 20;
  for (const engine::CpuCache& cache : engine::ReadMachine().caches) {
    largest_cache = std::max(largest_cache, static_cast<size_t>(cache.size_bytes));
  }
  const size_t last = std::max(size_t{512} << 20, 4 * largest_cache);
  std::vector<size_t> sizes;
  for (size_t size = size_t{32} << 10; size < last; size *= 4) sizes.push_back(size);
  sizes.push_back(last);
  return sizes;
}

Status MeasureWith(int num_threads, TableReport& report) {
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team, WorkerTeam::Create(num_threads));
  for (const size_t size : SizesToRead()) {
    ADIT_ASSIGN_OR_RETURN(const double rate, plan::MeasureReadRate(*team, size));
    report.rows.push_back({std::string("read"), FormatBytes(static_cast<int64_t>(size)), std::string("-"),
                           static_cast<int64_t>(num_threads), rate, TableCell(), static_cast<int64_t>(size)});
  }
  for (const plan::Multiplier& multiplier : plan::Multipliers()) {
    report.rows.push_back({fmt::format("multiply {}", multiplier.type), std::string(multiplier.instructions),
                           std::string(multiplier.set), static_cast<int64_t>(num_threads), TableCell(),
                           plan::MeasureOps(*team, multiplier), TableCell()});
  }
  return Status();
}

}  // namespace

Result<int> Run(const BenchRooflineOptions& options) {
  const plan::ForeignLoad load;
  TableReport report{.title = "adit bench roofline",
                     .settings = MachineSettings(),
                     .columns = {{"what", "what"},
                                 {"of", "of"},
                                 {"isa", "isa"},
                                 {"threads", "threads"},
                                 {"bytes_per_s", "GB/s", 1e-9, 1},
                                 {"ops_per_s", "Gop/s", 1e-9, 0},
                                 {"size_bytes", ""}},
                     .rows = {}};
  std::vector<int64_t> threads = options.threads;
  if (threads.empty()) {
    threads = {1};
    if (NumAvailableCpus() > 1) threads.push_back(NumAvailableCpus());
  }
  for (const int64_t num_threads : threads) ADIT_RETURN_IF_ERROR(MeasureWith(static_cast<int>(num_threads), report));
  report.settings.push_back(OtherLoad(load));
  report.names = {"what", "of", "isa", "threads"};
  report.bars = "bytes_per_s";
  ADIT_RETURN_IF_ERROR(WriteTable(options.machine, "bytes_per_s", std::move(report)));
  return kExitOk;
}

}  // namespace adit::cli
