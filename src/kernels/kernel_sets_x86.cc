#include <cpuid.h>

#include "kernels/cpu_features.h"
#include "kernels/kernel_sets.h"

namespace adit::kernels {
namespace {

constexpr CpuFeature kAvx2Needs[] = {CpuFeature::kAvx2, CpuFeature::kFma, CpuFeature::kF16c};
constexpr CpuFeature kAvx512Needs[] = {CpuFeature::kAvx512F,  CpuFeature::kAvx512Bw,   CpuFeature::kAvx512Dq,
                                       CpuFeature::kAvx512Vl, CpuFeature::kAvx512Vnni, CpuFeature::kAvx2,
                                       CpuFeature::kFma,      CpuFeature::kF16c};

// Extended control register 0. Only where the system has enabled XSAVE: the instruction faults elsewhere.
uint64_t ReadXcr0() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

}  // namespace

CpuFeatures CpuFeatures::Detect() {
  constexpr uint32_t kOsxsave = 1u << 27;
  CpuidRegisters registers;
  uint32_t eax = 0;
  uint32_t ebx = 0;
  uint32_t ecx = 0;
  uint32_t edx = 0;
  if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0) registers.leaf1_ecx = ecx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0) {
    registers.leaf7_ebx = ebx;
    registers.leaf7_ecx = ecx;
  }
  if ((registers.leaf1_ecx & kOsxsave) != 0) registers.xcr0 = ReadXcr0();
  return FromRegisters(registers);
}

std::span<const IsaTable> IsaTables() {
  static const IsaTable tables[] = {{&avx2::kTable, kAvx2Needs}, {&avx512::kTable, kAvx512Needs}};
  return tables;
}

}  // namespace adit::kernels
