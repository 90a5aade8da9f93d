#ifndef ADIT_KERNELS_GENERIC_KV_TYPE_H_
#define ADIT_KERNELS_GENERIC_KV_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"

// How each KvType stores its elements, in vectors of V: types that attention is a template over.
namespace adit::kernels::generic {

template <typename V>
struct KvF32 {
  using Stored = float;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadU(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) { return V::LoadPartial(p, n); }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { V::StoreU(p, a); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) { V::StorePartial(p, a, n); }
};

template <typename V>
struct KvF16 {
  using Stored = uint16_t;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadF16(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) { return V::LoadF16Partial(p, n); }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { V::StoreF16(p, a); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) { V::StoreF16Partial(p, a, n); }
};

template <typename V>
struct KvBF16 {
  using Stored = uint16_t;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadBF16(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) { return V::LoadBF16Partial(p, n); }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { V::StoreBF16(p, a); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) { V::StoreBF16Partial(p, a, n); }
};

// Keys and values of one KV head in one block.
template <typename Kv>
struct HeadBlock {
  typename Kv::Stored* keys;    // [k_dim, block_size]
  typename Kv::Stored* values;  // [block_size, v_dim]

  [[gnu::always_inline]] HeadBlock(const KvView& kv, int32_t block_id, int kv_head) {
    auto* block = reinterpret_cast<typename Kv::Stored*>(kv.base + static_cast<size_t>(block_id) * kv.block_bytes);
    keys = block + static_cast<int64_t>(kv_head) * (kv.k_dim + kv.v_dim) * kv.block_size;
    values = keys + static_cast<int64_t>(kv.k_dim) * kv.block_size;
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_KV_TYPE_H_
