#ifndef ADIT_KERNELS_GENERIC_KV_TYPE_H_
#define ADIT_KERNELS_GENERIC_KV_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "tensor/fp8.h"

// How each KvType stores its elements, in vectors of V: types that attention is a template over.
namespace adit::kernels::generic {

template <typename V>
struct KvF32 {
  using Stored = float;
  static constexpr bool kHasScales = false;
  static constexpr bool kPacked = false;  // two elements in one Stored
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadU(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) { return V::LoadPartial(p, n); }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { V::StoreU(p, a); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) { V::StorePartial(p, a, n); }
};

template <typename V>
struct KvF16 {
  using Stored = uint16_t;
  static constexpr bool kHasScales = false;
  static constexpr bool kPacked = false;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadF16(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) { return V::LoadF16Partial(p, n); }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { V::StoreF16(p, a); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) { V::StoreF16Partial(p, a, n); }
};

template <typename V>
struct KvBF16 {
  using Stored = uint16_t;
  static constexpr bool kHasScales = false;
  static constexpr bool kPacked = false;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadBF16(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) { return V::LoadBF16Partial(p, n); }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { V::StoreBF16(p, a); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) { V::StoreBF16Partial(p, a, n); }
};

template <typename V>
struct KvFp8 {
  using Stored = uint8_t;
  static constexpr bool kHasScales = false;
  static constexpr bool kPacked = false;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadE4M3OrNaN(p); }
  [[gnu::always_inline]] static V LoadPartial(const Stored* p, int64_t n) {
    Stored all[V::kLanes] = {};
    for (int64_t i = 0; i < n; ++i) all[i] = p[i];
    return V::LoadE4M3OrNaN(all);
  }
  [[gnu::always_inline]] static void Store(Stored* p, V a) { StorePartial(p, a, V::kLanes); }
  [[gnu::always_inline]] static void StorePartial(Stored* p, V a, int64_t n) {
    float all[V::kLanes];
    V::StoreU(all, a);
    for (int64_t i = 0; i < n; ++i) p[i] = RoundToE4M3(all[i]);
  }
};

// Types with scales load codes, whole vectors of them even where a row ends: behind codes lie scales, so what is read
// too much is in the block. Pack turns the n codes of a group into the bytes of a key or value and gives their number.
template <typename V>
struct KvQ8 {
  using Stored = int8_t;
  static constexpr bool kHasScales = true;
  static constexpr bool kPacked = false;
  static constexpr int kLowestCode = -127;
  static constexpr int kHighestCode = 127;
  [[gnu::always_inline]] static V Load(const Stored* p) { return V::LoadI8(p); }
  [[gnu::always_inline]] static int Pack(const int8_t* codes, int n, Stored* out) {
    for (int i = 0; i < n; ++i) out[i] = codes[i];
    return n;
  }
};

template <typename V>
struct KvQ4 {
  using Stored = int8_t;
  static constexpr bool kHasScales = true;
  static constexpr bool kPacked = true;
  static constexpr int kLowestCode = -8;
  static constexpr int kHighestCode = 7;
  // Elements of the first half of a group; those of the second.
  [[gnu::always_inline]] static V LoadFirst(const Stored* p) { return V::LoadLowI4(p); }
  [[gnu::always_inline]] static V LoadSecond(const Stored* p) { return V::LoadHighI4(p); }
  [[gnu::always_inline]] static int Pack(const int8_t* codes, int n, Stored* out) {
    const int bytes = n < kKvHalfGroup ? n : kKvHalfGroup;
    for (int i = 0; i < bytes; ++i) {
      const int second = i + kKvHalfGroup < n ? codes[i + kKvHalfGroup] : 0;
      out[i] = static_cast<Stored>(16 * second + (codes[i] & 15));
    }
    return bytes;
  }
};

// The keys or values of one KV head in one block.
struct HeadArray {
  std::byte* elements;
  uint16_t* scales;  // [groups, block_size], where the type has scales
};
struct HeadBlock {
  HeadArray keys;    // [k_dim, block_size]
  HeadArray values;  // [block_size, v_dim]
};

template <typename V>
[[gnu::always_inline]] inline HeadBlock FindHead(const KvView& kv, const KvHeadLayout& layout, int32_t block_id,
                                                 int kv_head) {
  std::byte* head =
      kv.base + static_cast<size_t>(block_id) * kv.block_bytes + static_cast<size_t>(kv_head) * layout.bytes;
  return {{head + layout.keys, reinterpret_cast<uint16_t*>(head + layout.key_scales)},
          {head + layout.values, reinterpret_cast<uint16_t*>(head + layout.value_scales)}};
}
template <typename V>
[[gnu::always_inline]] inline KvHeadLayout LayoutOf(const KvView& kv) {
  return KvHeadLayoutOf(kv.k_type, kv.v_type, kv.block_size, kv.k_dim, kv.v_dim);
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_KV_TYPE_H_
