#include <cpuid.h>

#include <algorithm>

#include "base/clock.h"
#include "kernels/cpu_features.h"
#include "kernels/kernel_sets.h"

namespace adit::kernels {
namespace {

constexpr CpuFeature kAvx2Needs[] = {CpuFeature::kAvx2, CpuFeature::kFma, CpuFeature::kF16c};
constexpr CpuFeature kAvx512Needs[] = {CpuFeature::kAvx512F,  CpuFeature::kAvx512Bw,   CpuFeature::kAvx512Dq,
                                       CpuFeature::kAvx512Vl, CpuFeature::kAvx512Vnni, CpuFeature::kAvx2,
                                       CpuFeature::kFma,      CpuFeature::kF16c};
constexpr CpuFeature kAvx512Bf16Needs[] = {CpuFeature::kAvx512Bf16, CpuFeature::kAvx512F,  CpuFeature::kAvx512Bw,
                                           CpuFeature::kAvx512Dq,   CpuFeature::kAvx512Vl, CpuFeature::kAvx512Vnni,
                                           CpuFeature::kAvx2,       CpuFeature::kFma,      CpuFeature::kF16c,
                                           CpuFeature::kAvx512Vbmi};

// Extended control register 0. Only where the system has enabled XSAVE: the instruction faults elsewhere.
uint64_t ReadXcr0() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

// Fourteen independent sums, so that the rate counts and not the latency: Zen 5 starts two vdpbf16ps a cycle and takes
// six for each, so that with eight it would seem to gain nothing over FMA, which takes four.
#define ADIT_SUMS(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)
#define ADIT_CLEAR(sum) "vpxor %%xmm" #sum ", %%xmm" #sum ", %%xmm" #sum "\n\t"
#define ADIT_PAIRS(sum) "vdpbf16ps %%zmm14, %%zmm14, %%zmm" #sum "\n\t"
#define ADIT_FLOATS(sum) "vfmadd231ps %%zmm14, %%zmm14, %%zmm" #sum "\n\t"
#define ADIT_ROUNDS(op)                                                                                         \
  asm volatile(ADIT_SUMS(ADIT_CLEAR) ADIT_CLEAR(14) "1:\n\t" ADIT_SUMS(op) "dec %0\n\tjnz 1b\n\tvzeroupper"     \
               : "+r"(rounds)                                                                                   \
               :                                                                                                \
               : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
                 "xmm11", "xmm12", "xmm13", "xmm14")

void MultiplyPairs(int64_t rounds) { ADIT_ROUNDS(ADIT_PAIRS); }
void MultiplyFloats(int64_t rounds) { ADIT_ROUNDS(ADIT_FLOATS); }

// Seconds of the fastest of several runs: what else the machine does only adds to a run.
double LeastSeconds(void (*multiply)(int64_t rounds)) {
  constexpr int kRuns = 15;
  constexpr int64_t kRounds = 4000;  // some ten microseconds
  double least = 1.0;
  for (int run = 0; run < kRuns; ++run) {
    const double begin = SteadySeconds();
    multiply(kRounds);
    least = std::min(least, SteadySeconds() - begin);
  }
  return least;
}

// vdpbf16ps does twice the products of a float32 FMA. Processors start it as often, half as often or a quarter as
// often, so that the limit is far from what any of them measures, and the choice the same in every run.
bool PairsOfBf16Pay() {
  constexpr double kLimit = 1.5;
  static const bool pays = 2.0 * LeastSeconds(MultiplyFloats) > kLimit * LeastSeconds(MultiplyPairs);
  return pays;
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
    if (__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0) registers.leaf7_1_eax = eax;
  }
  if ((registers.leaf1_ecx & kOsxsave) != 0) registers.xcr0 = ReadXcr0();
  return FromRegisters(registers);
}

std::span<const IsaTable> IsaTables() {
  static const IsaTable tables[] = {{&avx2::kTable, kAvx2Needs},
                                    {&avx512::kTable, kAvx512Needs},
                                    {&avx512bf16::kTable, kAvx512Bf16Needs, PairsOfBf16Pay}};
  return tables;
}

}  // namespace adit::kernels
