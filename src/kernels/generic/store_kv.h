#ifndef ADIT_KERNELS_GENERIC_STORE_KV_H_
#define ADIT_KERNELS_GENERIC_STORE_KV_H_

#include "kernels/generic/kv_type.h"

// Keys and values of one token into the cache. Values are a row; a key's elements are block_size apart, each in a cache
// line of its own, so keys are narrowed by vectors and stored one by one.
namespace adit::kernels::generic {

template <typename V, typename Kv>
[[gnu::always_inline]] inline void NarrowRow(const float* x, int dim, typename Kv::Stored* out) {
  constexpr int kLanes = V::kLanes;
  int d = 0;
  for (; d + kLanes <= dim; d += kLanes) Kv::Store(out + d, V::LoadU(x + d));
  if (d < dim) Kv::StorePartial(out + d, V::LoadPartial(x + d, dim - d), dim - d);
}

template <typename V, typename Kv>
inline void StoreKv(const StoreKvArgs& args) noexcept {
  constexpr int kPiece = 4 * V::kLanes;  // elements of a key that are narrowed before they are spread
  const KvView& kv = args.kv;
  for (int head = 0; head < kv.num_kv_heads; ++head) {
    const HeadBlock<Kv> block(kv, args.block_id, head);
    const float* k = args.k + static_cast<int64_t>(head) * kv.k_dim;
    typename Kv::Stored* key = block.keys + args.slot;
    for (int d = 0; d < kv.k_dim; d += kPiece) {
      const int n = kv.k_dim - d < kPiece ? kv.k_dim - d : kPiece;
      typename Kv::Stored narrow[kPiece];
      NarrowRow<V, Kv>(k + d, n, narrow);
      for (int i = 0; i < n; ++i, key += kv.block_size) *key = narrow[i];
    }
    const float* v = args.v + static_cast<int64_t>(head) * kv.v_dim;
    NarrowRow<V, Kv>(v, kv.v_dim, block.values + static_cast<int64_t>(args.slot) * kv.v_dim);
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_STORE_KV_H_
