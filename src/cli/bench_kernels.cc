// adit bench kernels.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/machine_bench.h"
#include "cli/output.h"
#include "cli/progress_bar.h"
#include "kernels/dispatch.h"
#include "plan/matmul_rate.h"
#include "tensor/dtype.h"

namespace adit::cli {
namespace {

// More bytes than a cache holds: what products of few tokens read.
constexpr size_t kMemoryBytes = size_t{512} << 20;

Result<std::vector<DType>> TypesOf(const BenchKernelsOptions& options, const kernels::KernelTable& kernels) {
  std::vector<DType> known;
  std::string names;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (kernels.weights[i].matmul == nullptr) continue;
    known.push_back(static_cast<DType>(i));
    names += fmt::format("{}{}", names.empty() ? "" : ", ", Traits(known.back()).name);
  }
  if (options.types.empty()) return known;
  std::vector<DType> types;
  for (const std::string& name : options.types) {
    const std::optional<DType> type = ParseDType(name);
    if (!type || std::find(known.begin(), known.end(), *type) == known.end()) {
      return InvalidArgument("--type: kernels {} have no type '{}'; there are {}", kernels.name, name, names);
    }
    types.push_back(*type);
  }
  return types;
}

plan::Work WorkOf(const plan::MatmulTime& time, kernels::ActivationFormat activation) {
  plan::Work work{.bytes = time.weight_bytes};
  switch (activation) {
    case kernels::ActivationFormat::kF32:
      work.f32_ops = time.ops;
      break;
    case kernels::ActivationFormat::kBF16:
      work.bf16_ops = time.ops;
      break;
    case kernels::ActivationFormat::kQ8:
      work.q8_ops = time.ops;
      break;
  }
  return work;
}

Status MeasureAll(const BenchKernelsOptions& options, const kernels::KernelTable& kernels, int num_threads,
                  TableReport& report) {
  ADIT_ASSIGN_OR_RETURN(const std::vector<DType> types, TypesOf(options, kernels));
  ADIT_ASSIGN_OR_RETURN(const std::unique_ptr<WorkerTeam> team, WorkerTeam::Create(num_threads));
  ADIT_ASSIGN_OR_RETURN(const plan::MachineLimits limits, MeasureLimits(*team, kernels, kMemoryBytes));
  ProgressBar bar(Stderr(), fmt::format("{} threads", num_threads));
  size_t done = 0;
  for (const DType type : types) {
    const kernels::ActivationFormat activation = kernels.weights[static_cast<int>(type)].activation;
    for (const auto& [num_rows, num_cols] : options.shapes) {
      for (const int64_t num_tokens : options.rows) {
        if (num_cols % Traits(type).block_elements != 0) continue;
        ADIT_ASSIGN_OR_RETURN(
            const plan::MatmulTime time,
            plan::TimeMatmul(*team, kernels,
                             {.dtype = type, .num_rows = num_rows, .num_cols = num_cols, .num_tokens = num_tokens}));
        const plan::Work work = WorkOf(time, activation);
        const double least = plan::LeastSeconds(work, limits);
        report.rows.push_back({std::string("matmul"), std::string(Traits(type).name),
                               fmt::format("{}x{}", num_rows, num_cols), num_tokens, static_cast<int64_t>(num_threads),
                               std::string(kernels.name), time.seconds, time.weight_bytes / time.seconds,
                               time.ops / time.seconds, least > 0.0 ? TableCell(least / time.seconds) : TableCell()});
      }
    }
    bar.Update(static_cast<double>(++done) / static_cast<double>(types.size()));
  }
  AddLimits(limits, num_threads, report);
  return Status();
}

}  // namespace

Result<int> Run(const BenchKernelsOptions& options) {
  const plan::ForeignLoad load;
  ADIT_ASSIGN_OR_RETURN(const kernels::KernelTable* kernels, kernels::SelectKernels(ChosenIsa({.isa = options.isa})));
  TableReport report{.title = "adit bench kernels",
                     .settings = MachineSettings(),
                     .columns = {{"op", "op"},
                                 {"type", "type"},
                                 {"shape", "shape"},
                                 {"rows", "rows"},
                                 {"threads", "threads"},
                                 {"isa", ""},
                                 {"seconds", "ms", 1e3, 3},
                                 {"bytes_per_s", "GB/s", 1e-9, 1},
                                 {"ops_per_s", "Gop/s", 1e-9, 0},
                                 {"share_of_limit", "% of limit", 100.0, 1}},
                     .rows = {}};
  report.settings.push_back({"kernels", std::string(kernels->name)});
  for (const int64_t num_threads : ThreadCounts(options.threads)) {
    ADIT_RETURN_IF_ERROR(MeasureAll(options, *kernels, static_cast<int>(num_threads), report));
  }
  report.settings.push_back(OtherLoad(load));
  report.names = {"op", "type", "shape", "rows", "threads"};
  report.bars = "share_of_limit";
  report.reference = 100.0;
  ADIT_RETURN_IF_ERROR(WriteTable(options.machine, "seconds", std::move(report)));
  return kExitOk;
}

}  // namespace adit::cli
