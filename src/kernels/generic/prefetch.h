#ifndef ADIT_KERNELS_GENERIC_PREFETCH_H_
#define ADIT_KERNELS_GENERIC_PREFETCH_H_

#include <cstddef>
#include <cstdint>

namespace adit::kernels::generic {

// Prefetches the kBytes bytes that a product of few tokens reads V::kStreamAhead bytes after those at `p`, a multiple
// of 64, into the cache of level V::kStreamLevel. V: the vectors of floats of an instruction set, which says what is
// best.
template <class V, int kBytes>
[[gnu::always_inline]] inline void PrefetchStream(const void* p) {
  static_assert(V::kStreamLevel == 1 || V::kStreamLevel == 2);
  for (int byte = 0; byte < kBytes; byte += 64) {
    __builtin_prefetch(static_cast<const std::byte*>(p) + V::kStreamAhead + byte, 0, 4 - V::kStreamLevel);
  }
}

// The `bytes` bytes at `p` themselves, into the first-level cache.
[[gnu::always_inline]] inline void Prefetch(const std::byte* p, int64_t bytes) {
  for (int64_t byte = 0; byte < bytes; byte += 64) __builtin_prefetch(p + byte);
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_PREFETCH_H_
