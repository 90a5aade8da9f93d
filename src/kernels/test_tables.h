#ifndef ADIT_KERNELS_TEST_TABLES_H_
#define ADIT_KERNELS_TEST_TABLES_H_

#include <vector>

#include "kernels/kernel_table.h"

// For tests alone.
namespace adit::kernels {

// The sets that can run here, ref first; where the machine can run AVX2, also that of AVX-512 carried out by AVX2,
// which is called "avx512_emulated" and needs SIMDe at build time.
std::vector<const KernelTable*> TestTables();
// Those, and the sets that have matrix products alone: "avx512bf16" or "avx512bf16_emulated".
std::vector<const KernelTable*> ProductTestTables();

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_TEST_TABLES_H_
