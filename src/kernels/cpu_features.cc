#include "kernels/cpu_features.h"

namespace adit::kernels {
namespace {

// State that the system must save for a feature, as bits of XCR0.
constexpr uint64_t kAvxState = 0x6;      // xmm and ymm
constexpr uint64_t kAvx512State = 0xe6;  // and mask registers, upper halves of zmm0-15, zmm16-31

struct Row {
  const char* name;
  uint32_t CpuidRegisters::*source;
  int bit;
  uint64_t state;
};

// In the order of CpuFeature. Bits are those of the Intel SDM, volume 2, CPUID.
constexpr Row kRows[kNumCpuFeatures] = {
    {"fma", &CpuidRegisters::leaf1_ecx, 12, kAvxState},
    {"f16c", &CpuidRegisters::leaf1_ecx, 29, kAvxState},
    {"avx2", &CpuidRegisters::leaf7_ebx, 5, kAvxState},
    {"avx512f", &CpuidRegisters::leaf7_ebx, 16, kAvx512State},
    {"avx512bw", &CpuidRegisters::leaf7_ebx, 30, kAvx512State},
    {"avx512dq", &CpuidRegisters::leaf7_ebx, 17, kAvx512State},
    {"avx512vl", &CpuidRegisters::leaf7_ebx, 31, kAvx512State},
    {"avx512vnni", &CpuidRegisters::leaf7_ecx, 11, kAvx512State},
    {"avx512vbmi", &CpuidRegisters::leaf7_ecx, 1, kAvx512State},
    {"avx512bf16", &CpuidRegisters::leaf7_1_eax, 5, kAvx512State},
};

}  // namespace

const char* Name(CpuFeature feature) { return kRows[static_cast<size_t>(feature)].name; }

CpuFeatures CpuFeatures::FromRegisters(const CpuidRegisters& registers) {
  CpuFeatures features;
  for (size_t i = 0; i < kNumCpuFeatures; ++i) {
    const Row& row = kRows[i];
    const bool processor_has = (registers.*row.source >> row.bit & 1) != 0;
    features.has_[i] = processor_has && (registers.xcr0 & row.state) == row.state;
  }
  return features;
}

std::string CpuFeatures::Missing(std::span<const CpuFeature> needed) const {
  std::string missing;
  for (const CpuFeature feature : needed) {
    if (Has(feature)) continue;
    if (!missing.empty()) missing += ' ';
    missing += Name(feature);
  }
  return missing;
}

}  // namespace adit::kernels
