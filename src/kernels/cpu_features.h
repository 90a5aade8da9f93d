#ifndef ADIT_KERNELS_CPU_FEATURES_H_
#define ADIT_KERNELS_CPU_FEATURES_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace adit::kernels {

// Instruction sets of x86-64 that some kernel set needs.
enum class CpuFeature : uint8_t {
  kFma,
  kF16c,
  kAvx2,
  kAvx512F,
  kAvx512Bw,
  kAvx512Dq,
  kAvx512Vl,
  kAvx512Vnni,
  kAvx512Vbmi,
  kAvx512Bf16,
};
inline constexpr int kNumCpuFeatures = 10;

// As compilers and /proc/cpuinfo name it: "avx512vnni".
const char* Name(CpuFeature feature);

// What the processor says of itself: registers of the CPUID instruction and the extended control register 0, in which
// the operating system notes the register files that it saves (Intel SDM volume 1, section 14.3 and 15.2).
struct CpuidRegisters {
  uint32_t leaf1_ecx = 0;
  uint32_t leaf7_ebx = 0;
  uint32_t leaf7_ecx = 0;
  uint32_t leaf7_1_eax = 0;  // of subleaf 1
  uint64_t xcr0 = 0;         // 0 where the system has not enabled XSAVE
};

class CpuFeatures {
 public:
  // The features of the processor that also have the operating system's support.
  static CpuFeatures FromRegisters(const CpuidRegisters& registers);
  // Of this machine; none where it is not an x86-64.
  static CpuFeatures Detect();

  bool Has(CpuFeature feature) const { return has_[static_cast<size_t>(feature)]; }
  // Those of `needed` that are absent, by name and separated by spaces; empty when all are there.
  std::string Missing(std::span<const CpuFeature> needed) const;

 private:
  std::array<bool, kNumCpuFeatures> has_ = {};
};

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_CPU_FEATURES_H_
