#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/env.h"
#include "base/error.h"
#include "base/worker_team.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/printable.h"
#include "cli/units.h"
#include "engine/machine.h"

namespace adit::cli {
namespace {

std::string MachineRow(std::string_view label, std::string_view text) {
  return fmt::format("{:<14} {}\n", label, text.empty() ? "unknown" : text);
}

std::string CpuRows(const engine::Machine& machine) {
  std::string text = MachineRow("processor", OneLine(machine.cpu_model));
  text += MachineRow("CPUs", fmt::format("{} for this process, {} online", machine.num_cpus, machine.num_online_cpus));
  for (const engine::CpuCache& cache : machine.caches) {
    if (cache.type == "Instruction") continue;
    text += MachineRow(fmt::format("cache L{}", cache.level),
                       fmt::format("{}, shared by CPUs {}", FormatBytes(cache.size_bytes),
                                   cache.shared_cpus.empty() ? "unknown" : OneLine(cache.shared_cpus)));
  }
  return text;
}

std::string MemoryRows(const engine::Machine& machine) {
  std::string memory = fmt::format("{} in all, {} available", FormatBytes(machine.memory_bytes),
                                   FormatBytes(machine.available_memory_bytes));
  if (machine.memory_limit_bytes > 0) {
    memory += fmt::format(", limited to {} by the control group", FormatBytes(machine.memory_limit_bytes));
  }
  std::string huge_pages = OneLine(machine.transparent_huge_pages);
  if (!huge_pages.empty()) {
    huge_pages += fmt::format(", {} each", FormatBytes(machine.huge_page_bytes));
    if (machine.transparent_huge_pages == "never") huge_pages += "; weights are read more slowly without them";
  }
  return MachineRow("memory", memory) + MachineRow("huge pages", huge_pages);
}

// The name of the kernel set that would run: the one asked for, or the first that can.
Result<std::string> ChosenKernels(const engine::Machine& machine) {
  const std::string wanted = ChosenIsa({});
  for (const engine::KernelSetStatus& set : machine.kernel_sets) {
    if (wanted == "auto" ? !set.automatic : set.name != wanted) continue;
    if (set.available) return set.name;
    return Unsupported("ADIT_ISA: this machine lacks {} for '{}'", set.missing, wanted);
  }
  return InvalidArgument("ADIT_ISA: no kernel set '{}' in this build", wanted);
}

std::string KernelRows(const engine::Machine& machine, std::string_view chosen) {
  std::string text;
  for (const engine::KernelSetStatus& set : machine.kernel_sets) {
    std::string state = set.available ? "available" : "needs " + set.missing;
    if (set.available && !set.automatic) state += ", by name only: no faster here";
    if (set.name == chosen) state += ", used";
    text += MachineRow("kernels " + set.name, state);
  }
  return text;
}

}  // namespace

Result<int> Run(const DoctorOptions&) {
  const engine::Machine machine = engine::ReadMachine();
  const Result<std::string> kernels = ChosenKernels(machine);
  const Result<int> threads = ChosenThreads({});
  std::string text = CpuRows(machine) + MemoryRows(machine) + KernelRows(machine, kernels.ok() ? *kernels : "");
  if (threads.ok()) text += MachineRow("threads", std::to_string(*threads > 0 ? *threads : machine.num_cpus));
  text += MachineRow("ADIT_ISA", env::Isa() ? OneLine(*env::Isa()) : "not set");
  text += MachineRow("ADIT_THREADS", env::Threads() ? OneLine(*env::Threads()) : "not set");
  ADIT_RETURN_IF_ERROR(Stdout().Write(text));
  if (!kernels.ok()) return kernels.status();
  if (!threads.ok()) return threads.status();
  return kExitOk;
}

}  // namespace adit::cli
