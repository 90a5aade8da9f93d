#include "kernels/cpu_features.h"
#include "kernels/kernel_sets.h"

namespace adit::kernels {

CpuFeatures CpuFeatures::Detect() { return {}; }

std::span<const IsaTable> IsaTables() { return {}; }

}  // namespace adit::kernels
