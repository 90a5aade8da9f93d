#ifndef ADIT_KERNELS_GENERIC_ATTEND_VALUES_H_
#define ADIT_KERNELS_GENERIC_ATTEND_VALUES_H_

#include "kernels/generic/attend_tiles.h"
#include "kernels/generic/unroll.h"

// values += weight * value for a tile of rows and positions of a chunk.
namespace adit::kernels::generic {

template <int kRows>
struct TileWeights {
  const float* of[kRows];  // [kAttentionChunk] each
};

// Vectors of a tile: at most a group of elements where it has a scale.
template <typename V, typename Kv, int kRows>
constexpr int ValueVectors() {
  constexpr int kGroupVectors = kKvGroup / V::kLanes;
  constexpr int kMost = kTileVectors<V, kRows>;
  return Kv::kHasScales && kMost > kGroupVectors ? kGroupVectors : kMost;
}

// Elements from the start of a tile to its vector c. Where two elements are packed together, vectors are so too.
template <typename V, typename Kv>
constexpr int ColumnOf(int c) {
  return Kv::kPacked ? c / 2 * V::kLanes + c % 2 * kKvHalfGroup : c * V::kLanes;
}

// Vector c of a tile in the value of a token; of a partial tile of plain elements, the first num_columns.
template <typename V, typename Kv, bool kPartial>
[[gnu::always_inline]] inline V LoadColumn(const typename Kv::Stored* value, int c, int num_columns) {
  if constexpr (Kv::kPacked) {
    const auto* pairs = value + c / 2 * V::kLanes;
    return c % 2 == 0 ? Kv::LoadFirst(pairs) : Kv::LoadSecond(pairs);
  } else if constexpr (kPartial && !Kv::kHasScales) {
    return Kv::LoadPartial(value, num_columns);
  } else {
    return Kv::Load(value + c * V::kLanes);
  }
}

// The columns of a tile from d on over positions [begin, end). A partial tile has those below `num_columns` alone, and
// what it reads and computes beyond them is let go.
template <typename V, typename Kv, int kRows, int kVectors, bool kPartial = false>
[[gnu::always_inline]] inline void ValueTile(const ChunkArray<V>& values, const TileRows& rows,
                                             const TileWeights<kRows>& weights, int begin, int end, int d,
                                             int64_t offset, int num_columns = 0) {
  using Stored = typename Kv::Stored;
  constexpr int kLanes = V::kLanes;
  constexpr int kTileBytes = kVectors * kLanes * static_cast<int>(sizeof(Stored)) / (Kv::kPacked ? 2 : 1);
  const auto present = [&](int c) ADIT_INLINE_LAMBDA {
    const int n = num_columns - ColumnOf<V, Kv>(c);
    return n < 0 ? 0 : n < kLanes ? n : kLanes;
  };
  V sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      const float* p = rows.values[r] + d + ColumnOf<V, Kv>(c);
      sums[r][c] = kPartial ? V::LoadPartial(p, present(c)) : V::LoadU(p);
    }
  }
  for (int position = begin; position < end;) {
    const int group = position / kLanes;
    const int group_end = (group + 1) * kLanes < end ? (group + 1) * kLanes : end;
    const int64_t start = position % kLanes * values.stride + offset;
    const std::byte* value = values.elements[group] + start;
    const std::byte* ahead = values.elements[group + kValueGroupsAhead<V>] + start;
    for (; position < group_end; ++position, value += values.stride, ahead += values.stride) {
      for (int byte = 0; byte < kTileBytes; byte += 64) __builtin_prefetch(ahead + byte);
      AddOuterProduct<V, kRows, kVectors>(
          sums, [&](int r) ADIT_INLINE_LAMBDA { return V::Broadcast(weights.of[r][position]); },
          [&](int c) ADIT_INLINE_LAMBDA {
            return LoadColumn<V, Kv, kPartial>(reinterpret_cast<const Stored*>(value), c, num_columns);
          });
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      float* p = rows.values[r] + d + ColumnOf<V, Kv>(c);
      if constexpr (kPartial) {
        V::StorePartial(p, sums[r][c], present(c));
      } else {
        V::StoreU(p, sums[r][c]);
      }
    }
  }
}

// All columns from d: by kVectors vectors, then what is left by half as many, then the partial vector.
template <typename V, typename Kv, int kRows, int kVectors = ValueVectors<V, Kv, kRows>()>
[[gnu::always_inline]] inline void ValueTiles(const ChunkArray<V>& values, const TileRows& rows,
                                              const TileWeights<kRows>& weights, int begin, int end, int d = 0) {
  constexpr int kColumns = kVectors * V::kLanes;
  constexpr auto kBytes = static_cast<int64_t>(sizeof(typename Kv::Stored));
  for (; d + kColumns <= values.dim; d += kColumns) {
    ValueTile<V, Kv, kRows, kVectors>(values, rows, weights, begin, end, d, d * kBytes);
  }
  if (d == values.dim) return;
  if constexpr (kVectors > 1) {
    ValueTiles<V, Kv, kRows, kVectors / 2>(values, rows, weights, begin, end, d);
  } else {
    ValueTile<V, Kv, kRows, 1, true>(values, rows, weights, begin, end, d, d * kBytes, values.dim - d);
  }
}

// The columns of the group of elements that begins at d, which has n. Half a tile serves a group that is not whole.
template <typename V, typename Kv, int kRows>
[[gnu::always_inline]] inline void ScaledValueTiles(const ChunkArray<V>& values, const TileRows& rows,
                                                    const TileWeights<kRows>& weights, int begin, int end, int d,
                                                    int n) {
  constexpr int kWhole = ValueVectors<V, Kv, kRows>();
  constexpr int kPart = Kv::kPacked ? 2 : kWhole / 2;
  // Elements from the start of one tile to the next, which packed types store in as many bytes, and where they end.
  constexpr int kPacking = Kv::kPacked ? 2 : 1;
  constexpr int kWholeStep = kWhole * V::kLanes / kPacking;
  constexpr int kPartStep = kPart * V::kLanes / kPacking;
  constexpr int kEnd = kKvGroup / kPacking;
  const int64_t offset = d / kPacking;
  if (n == kKvGroup) {
    for (int i = 0; i < kEnd; i += kWholeStep) {
      ValueTile<V, Kv, kRows, kWhole>(values, rows, weights, begin, end, d + i, offset + i);
    }
  } else {
    for (int i = 0; i < kEnd && i < n; i += kPartStep) {
      ValueTile<V, Kv, kRows, kPart, true>(values, rows, weights, begin, end, d + i, offset + i, n - i);
    }
  }
}

// Positions [begin, end) are added to rows.values.
template <typename V, typename Kv, int kRows>
void WeightedValues(const ChunkArray<V>& values, const TileRows& rows, int begin, int end) noexcept {
  TileWeights<kRows> weights;
  if constexpr (Kv::kHasScales) {
    alignas(64) float scaled[kRows][kAttentionChunk];
    for (int r = 0; r < kRows; ++r) weights.of[r] = scaled[r];
    for (int d = 0; d < values.dim; d += kKvGroup) {
      const int64_t scales = d / kKvGroup * values.scale_stride;
      for (int group = begin / V::kLanes; group * V::kLanes < end; ++group) {
        const V scale = V::LoadF16(values.scales[group] + scales);
        const int first = group * V::kLanes;
        for (int r = 0; r < kRows; ++r) V::Store(scaled[r] + first, V::Mul(V::Load(rows.weights[r] + first), scale));
      }
      const int n = values.dim - d < kKvGroup ? values.dim - d : kKvGroup;
      ScaledValueTiles<V, Kv, kRows>(values, rows, weights, begin, end, d, n);
    }
  } else {
    for (int r = 0; r < kRows; ++r) weights.of[r] = rows.weights[r];
    ValueTiles<V, Kv, kRows>(values, rows, weights, begin, end);
  }
}

template <typename V>
using ValuesFunction = void (*)(const ChunkArray<V>&, const TileRows&, int, int) noexcept;

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTEND_VALUES_H_
