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

// Largest magnitude of n elements as bits, in which infinity is above all numbers and NaN above infinity.
template <typename V>
[[gnu::always_inline]] inline uint32_t LargestMagnitude(const float* x, int n) {
  uint32_t largest = 0;
  for (int i = 0; i < n; ++i) {
    uint32_t bits;
    __builtin_memcpy(&bits, x + i, sizeof(bits));
    bits &= 0x7fffffffu;
    largest = bits > largest ? bits : largest;
  }
  return largest;
}

template <typename V>
[[gnu::always_inline]] inline float WidenHalf(uint16_t half) {
  const uint16_t halves[V::kLanes] = {half};
  return V::First(V::LoadF16(halves));
}

// Codes of a group of n elements; gives their scale.
template <typename V, typename Kv>
[[gnu::always_inline]] inline uint16_t QuantizeGroup(const float* x, int n, int8_t codes[kKvGroup]) {
  constexpr uint16_t kNaN = 0x7e00;
  constexpr uint16_t kLargestHalf = 0x7bff;
  constexpr uint32_t kInfinityBits = 0x7f800000u;
  constexpr auto kSteps = static_cast<float>(-Kv::kLowestCode);
  for (int i = 0; i < n; ++i) codes[i] = 0;
  const uint32_t bits = LargestMagnitude<V>(x, n);
  if (bits == 0) return 0;
  if (bits > kInfinityBits) return kNaN;
  float largest;
  __builtin_memcpy(&largest, &bits, sizeof(largest));
  // The smallest half whose product with kSteps, which is exact, reaches the largest magnitude.
  const float wanted = largest / kSteps < 65504.0f ? largest / kSteps : 65504.0f;
  uint16_t halves[V::kLanes];
  V::StoreF16(halves, V::Broadcast(wanted));
  uint16_t half = halves[0];
  if (WidenHalf<V>(half) * kSteps < largest && half < kLargestHalf) ++half;
  if constexpr (-Kv::kLowestCode != Kv::kHighestCode) {
    bool positive = false;
    for (int i = 0; i < n; ++i) positive |= x[i] == largest;
    if (positive) half |= 0x8000;
  }
  const V scale = V::Broadcast(WidenHalf<V>(half));
  const V lowest = V::Broadcast(static_cast<float>(Kv::kLowestCode));
  const V highest = V::Broadcast(static_cast<float>(Kv::kHighestCode));
  for (int begin = 0; begin < n; begin += V::kLanes) {
    const int count = n - begin < V::kLanes ? n - begin : V::kLanes;
    const V quotient = V::Div(V::LoadPartial(x + begin, count), scale);
    float rounded[V::kLanes];
    V::StoreU(rounded, V::Round(V::Min(V::Max(quotient, lowest), highest)));
    for (int i = 0; i < count; ++i) codes[begin + i] = static_cast<int8_t>(rounded[i]);
  }
  return half;
}

template <typename V, typename Kv>
void StoreKeys(const StoreKvArgs& args) noexcept {
  using Stored = typename Kv::Stored;
  constexpr int kPiece = kKvGroup;  // elements of a key that are narrowed before they are spread
  const KvView& kv = args.kv;
  const KvHeadLayout layout = LayoutOf<V>(kv);
  for (int head = 0; head < kv.num_kv_heads; ++head) {
    const HeadArray keys = FindHead<V>(kv, layout, args.block_id, head).keys;
    const float* k = args.k + static_cast<int64_t>(head) * kv.k_dim;
    Stored* key = reinterpret_cast<Stored*>(keys.elements) + args.slot;
    uint16_t* scale = keys.scales + args.slot;
    for (int d = 0; d < kv.k_dim; d += kPiece) {
      int n = kv.k_dim - d < kPiece ? kv.k_dim - d : kPiece;
      Stored narrow[kPiece];
      if constexpr (Kv::kHasScales) {
        int8_t codes[kKvGroup];
        *scale = QuantizeGroup<V, Kv>(k + d, n, codes);
        scale += kv.block_size;
        n = Kv::Pack(codes, n, narrow);
      } else {
        NarrowRow<V, Kv>(k + d, n, narrow);
      }
      for (int i = 0; i < n; ++i, key += kv.block_size) *key = narrow[i];
    }
  }
}

template <typename V, typename Kv>
void StoreValues(const StoreKvArgs& args) noexcept {
  using Stored = typename Kv::Stored;
  const KvView& kv = args.kv;
  const KvHeadLayout layout = LayoutOf<V>(kv);
  const size_t row_bytes = KvTokenBytes(kv.v_type, kv.v_dim);
  for (int head = 0; head < kv.num_kv_heads; ++head) {
    const HeadArray values = FindHead<V>(kv, layout, args.block_id, head).values;
    const float* v = args.v + static_cast<int64_t>(head) * kv.v_dim;
    auto* value = reinterpret_cast<Stored*>(values.elements + static_cast<size_t>(args.slot) * row_bytes);
    if constexpr (Kv::kHasScales) {
      uint16_t* scale = values.scales + args.slot;
      for (int d = 0; d < kv.v_dim; d += kKvGroup, scale += kv.block_size) {
        const int n = kv.v_dim - d < kKvGroup ? kv.v_dim - d : kKvGroup;
        int8_t codes[kKvGroup];
        *scale = QuantizeGroup<V, Kv>(v + d, n, codes);
        value += Kv::Pack(codes, n, value);
      }
    } else {
      NarrowRow<V, Kv>(v, kv.v_dim, value);
    }
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_STORE_KV_H_
