#ifndef ADIT_KERNELS_KERNEL_SETS_H_
#define ADIT_KERNELS_KERNEL_SETS_H_

#include <span>

#include "kernels/cpu_features.h"
#include "kernels/kernel_table.h"

namespace adit::kernels {

// The table of one instruction set, in which what the set lacks is null, and the processor features that it needs.
struct IsaTable {
  const KernelTable* table;
  std::span<const CpuFeature> needs;
  // Whether its instructions are faster than the lower set's on this processor, which has them. Null: on all.
  bool (*pays)() = nullptr;
};

// Those of this build beside ref, slowest first: of kernel_sets_x86.cc, or of kernel_sets_portable.cc where no
// instruction set has kernels of its own. Both also define CpuFeatures::Detect.
std::span<const IsaTable> IsaTables();

// `table` with what it lacks taken from `lower`, a complete one.
KernelTable Completed(const KernelTable& table, const KernelTable& lower);

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_KERNEL_SETS_H_
