#ifndef ADIT_KERNELS_EMULATE_IMMINTRIN_H_
#define ADIT_KERNELS_EMULATE_IMMINTRIN_H_

// Stands in for the compiler's <immintrin.h> when the sources of avx512/ are built to run on a machine without AVX-512:
// tests alone are linked with that build. SIMDe carries out most intrinsics of 512 bits by those of AVX2; what it
// lacks, or does not do exactly as the processor, is in avx512_rest.h. An intrinsic that nothing supplies does not
// compile ("target specific option mismatch"): add it there.
#include_next <immintrin.h>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

#include "kernels/emulate/avx512_rest.h"

#endif  // ADIT_KERNELS_EMULATE_IMMINTRIN_H_
