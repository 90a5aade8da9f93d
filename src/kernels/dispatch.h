#ifndef ADIT_KERNELS_DISPATCH_H_
#define ADIT_KERNELS_DISPATCH_H_

#include <span>
#include <string>
#include <string_view>

#include "adit/status.h"
#include "kernels/kernel_table.h"

namespace adit::kernels {

// A kernel set of this build, whether this machine can run it, and what it needs that is absent.
struct KernelSet {
  const KernelTable* table;
  bool available;
  std::string missing;  // e.g. "avx512vnni"; empty when available
  bool automatic;       // available, and faster here than the next lower set: the first such set is "auto"
};

// All sets of this build, fastest first; ref is always there and last.
std::span<const KernelSet> KernelSets();

// The set called `name`; "auto" is the first automatic one. InvalidArgument for an unknown name, Unsupported for one
// this machine cannot run; both list what would do.
Result<const KernelTable*> SelectKernels(std::string_view name);

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_DISPATCH_H_
