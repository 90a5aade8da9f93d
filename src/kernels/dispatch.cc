#include "kernels/dispatch.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "kernels/cpu_features.h"
#include "kernels/kernel_sets.h"

namespace adit::kernels {
namespace {

// Every set of the build: tables in one vector, completed from slowest to fastest, and the sets that point into it.
struct Sets {
  std::vector<KernelTable> tables;
  std::vector<KernelSet> sets;

  Sets() {
    const CpuFeatures cpu = CpuFeatures::Detect();
    const std::span<const IsaTable> isa_tables = IsaTables();
    tables.reserve(isa_tables.size());  // sets keep pointers
    sets.push_back({.table = &RefTable(), .available = true, .missing = "", .automatic = true});
    for (const IsaTable& isa : isa_tables) {
      const KernelTable& table = tables.emplace_back(Completed(*isa.table, *sets.back().table));
      std::string missing = cpu.Missing(isa.needs);
      const bool available = missing.empty();
      const bool automatic = available && (isa.pays == nullptr || isa.pays());
      sets.push_back({.table = &table, .available = available, .missing = std::move(missing), .automatic = automatic});
    }
    std::ranges::reverse(sets);
  }
};

std::string AvailableNames() {
  std::string names = "auto";
  for (const KernelSet& set : KernelSets()) {
    if (set.available) names.append(", ").append(set.table->name);
  }
  return names;
}

template <typename Function>
void TakeIfNull(Function& entry, Function lower) {
  if (entry == nullptr) entry = lower;
}

}  // namespace

KernelTable Completed(const KernelTable& table, const KernelTable& lower) {
  KernelTable complete = table;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (complete.weights[i].matmul == nullptr) complete.weights[i] = lower.weights[i];
  }
  TakeIfNull(complete.quantize_q8, lower.quantize_q8);
  TakeIfNull(complete.rms_norm, lower.rms_norm);
  TakeIfNull(complete.layer_norm, lower.layer_norm);
  TakeIfNull(complete.rope, lower.rope);
  TakeIfNull(complete.glu, lower.glu);
  TakeIfNull(complete.activate, lower.activate);
  TakeIfNull(complete.softcap, lower.softcap);
  TakeIfNull(complete.store_kv, lower.store_kv);
  TakeIfNull(complete.attend, lower.attend);
  TakeIfNull(complete.merge_states, lower.merge_states);
  TakeIfNull(complete.finish_state, lower.finish_state);
  return complete;
}

std::span<const KernelSet> KernelSets() {
  static const Sets sets;
  return sets.sets;
}

Result<const KernelTable*> SelectKernels(std::string_view name) {
  for (const KernelSet& set : KernelSets()) {
    if (name == "auto" ? !set.automatic : name != set.table->name) continue;
    if (set.available) return set.table;
    return Unsupported("kernels: set '{}' needs {}, which this machine lacks; it can run: {}", name, set.missing,
                       AvailableNames());
  }
  return InvalidArgument("kernels: no set '{}' in this build; this machine can run: {}", name, AvailableNames());
}

}  // namespace adit::kernels
