#ifndef ADIT_KERNELS_REF_KV_TYPE_H_
#define ADIT_KERNELS_REF_KV_TYPE_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "kernels/attention.h"
#include "tensor/fp8.h"
#include "tensor/half.h"

// How each KvType stores its elements, as attention.h says: types that attention is a template over.
namespace adit::kernels::ref {

// Where an element lies: which of the stored numbers of its key or value, and where two share one, which of the two.
struct Place {
  int64_t index;
  int half;
};

// Types that store each element by itself.
template <typename T>
struct KvPlain {
  using Stored = T;
  static constexpr int kHighestCode = 0;  // no codes
  static Place PlaceOf(int d) { return {d, 0}; }
};
struct KvF32 : KvPlain<float> {
  static float Widen(float x, int) { return x; }
  static float Narrow(float x) { return x; }
};
struct KvF16 : KvPlain<uint16_t> {
  static float Widen(uint16_t x, int) { return HalfToFloat(x); }
  static uint16_t Narrow(float x) { return FloatToHalf(x); }
};
struct KvBF16 : KvPlain<uint16_t> {
  static float Widen(uint16_t x, int) { return Bf16ToFloat(x); }
  static uint16_t Narrow(float x) { return FloatToBf16(x); }
};
struct KvFp8 : KvPlain<uint8_t> {
  static float Widen(uint8_t x, int) { return E4M3ToFloat(x); }
  static uint8_t Narrow(float x) { return FloatToE4M3(x); }
};
// Types of codes; Widen gives the code, Insert puts it in its place.
struct KvQ8_0 : KvPlain<int8_t> {
  static constexpr int kHighestCode = 127;
  static constexpr int kLowestCode = -127;
  static float Widen(int8_t x, int) { return x; }
  static void Insert(int8_t& stored, int code, int) { stored = static_cast<int8_t>(code); }
};
struct KvQ4_0 {
  using Stored = int8_t;
  static constexpr int kHighestCode = 7;
  static constexpr int kLowestCode = -8;
  static Place PlaceOf(int d) {
    return {d / kKvGroup * kKvHalfGroup + d % kKvHalfGroup, d % kKvGroup < kKvHalfGroup ? 0 : 1};
  }
  static float Widen(int8_t x, int half) { return static_cast<float>(half == 1 ? x >> 4 : ((x & 15) ^ 8) - 8); }
  // First codes come before the second of the same byte.
  static void Insert(int8_t& stored, int code, int half) {
    stored = static_cast<int8_t>(half == 1 ? 16 * code + stored : code & 15);
  }
};

template <typename Type>
inline constexpr bool kHasScales = Type::kHighestCode > 0;

// Elements with one scale; all of them where there are no scales.
template <typename Type>
int GroupSize(int dim) {
  return kHasScales<Type> ? kKvGroup : dim;
}

// The scale of n elements.
template <typename Type>
uint16_t ScaleOf(const float* x, int n) {
  constexpr uint16_t kNaN = 0x7e00;
  constexpr uint16_t kLargestHalf = 0x7bff;
  float largest = 0.0f;
  bool positive = false;  // the largest magnitude is that of a positive element
  for (int i = 0; i < n; ++i) {
    if (std::isnan(x[i])) return kNaN;
    if (std::abs(x[i]) > largest) positive = false;
    largest = std::max(largest, std::abs(x[i]));
    positive = positive || (x[i] == largest && largest > 0.0f);
  }
  // The smallest half whose product with `steps`, which is exact, reaches the largest magnitude.
  const auto steps = static_cast<float>(-Type::kLowestCode);
  uint16_t scale = FloatToHalf(std::min(largest / steps, HalfToFloat(kLargestHalf)));
  if (HalfToFloat(scale) * steps < largest && scale < kLargestHalf) ++scale;
  const bool negative = positive && -Type::kLowestCode != Type::kHighestCode;
  return negative ? static_cast<uint16_t>(scale | 0x8000) : scale;
}

template <typename Type>
int CodeOf(float x, float scale) {
  if (scale == 0.0f || std::isnan(scale)) return 0;
  constexpr auto kLowest = static_cast<float>(Type::kLowestCode);
  constexpr auto kHighest = static_cast<float>(Type::kHighestCode);
  return static_cast<int>(std::nearbyint(std::clamp(x / scale, kLowest, kHighest)));
}

// Keys or values of one KV head in one block.
template <typename Type>
struct HeadArray {
  typename Type::Stored* elements;
  uint16_t* scales;  // [groups, block_size]
};
template <typename Type>
HeadArray<Type> ArrayAt(const KvView& kv, int32_t block_id, int kv_head, size_t KvHeadLayout::*elements,
                        size_t KvHeadLayout::*scales) {
  const KvHeadLayout layout = KvHeadLayoutOf(kv.k_type, kv.v_type, kv.block_size, kv.k_dim, kv.v_dim);
  std::byte* head =
      kv.base + static_cast<size_t>(block_id) * kv.block_bytes + static_cast<size_t>(kv_head) * layout.bytes;
  return {reinterpret_cast<typename Type::Stored*>(head + layout.*elements),
          reinterpret_cast<uint16_t*>(head + layout.*scales)};
}
template <typename Type>
HeadArray<Type> KeysOf(const KvView& kv, int32_t block_id, int kv_head) {
  return ArrayAt<Type>(kv, block_id, kv_head, &KvHeadLayout::keys, &KvHeadLayout::key_scales);
}
template <typename Type>
HeadArray<Type> ValuesOf(const KvView& kv, int32_t block_id, int kv_head) {
  return ArrayAt<Type>(kv, block_id, kv_head, &KvHeadLayout::values, &KvHeadLayout::value_scales);
}
// Numbers stored from one token's value to the next one's.
template <typename Type>
int64_t RowSize(const KvView& kv) {
  return static_cast<int64_t>(KvTokenBytes(kv.v_type, kv.v_dim) / sizeof(typename Type::Stored));
}

}  // namespace adit::kernels::ref

#endif  // ADIT_KERNELS_REF_KV_TYPE_H_
