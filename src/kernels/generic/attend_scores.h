#ifndef ADIT_KERNELS_GENERIC_ATTEND_SCORES_H_
#define ADIT_KERNELS_GENERIC_ATTEND_SCORES_H_

#include "kernels/generic/attend_tiles.h"
#include "kernels/generic/unroll.h"

// scale * q . key for a tile of rows and the positions of a chunk.
namespace adit::kernels::generic {

// Row `row` of the keys of a group.
template <typename V, typename Kv>
[[gnu::always_inline]] inline const typename Kv::Stored* KeyRow(const ChunkArray<V>& keys, int group, int64_t row) {
  return reinterpret_cast<const typename Kv::Stored*>(keys.elements[group] + row * keys.stride);
}

// Asks for row `row` of the groups of the next tile.
template <typename V, int kGroups>
[[gnu::always_inline]] inline void PrefetchKeys(const ChunkArray<V>& keys, int next, int64_t row) {
  constexpr int kGroupsOfABlock = 16 / V::kLanes;  // at least so many
  for (int g = 0; g < kGroups; g += kGroupsOfABlock) {
    __builtin_prefetch(keys.elements[next + g] + row * keys.stride);
  }
}

// sums += q * key over elements [begin, end), in order; a group of elements or less, where they are packed. Packed rows
// are read twice, first for one half of the group and then for the other: registers do not suffice for both.
template <typename V, typename Kv, int kRows, int kGroups>
[[gnu::always_inline]] inline void AddKeys(V (&sums)[kRows][kGroups], const ChunkArray<V>& keys, const TileRows& rows,
                                           int group, int begin, int end) {
  const auto add = [&](int d, auto load) ADIT_INLINE_LAMBDA {
    AddOuterProduct<V, kRows, kGroups>(
        sums, [&](int r) ADIT_INLINE_LAMBDA { return V::Broadcast(rows.q[r][d]); }, load);
  };
  if constexpr (Kv::kPacked) {
    const int64_t row = begin / 2;
    const int half = begin + kKvHalfGroup < end ? begin + kKvHalfGroup : end;
    for (int d = begin; d < half; ++d) {
      PrefetchKeys<V, kGroups>(keys, group + kGroups, row + d - begin);
      add(d, [&](int g) ADIT_INLINE_LAMBDA { return Kv::LoadFirst(KeyRow<V, Kv>(keys, group + g, row + d - begin)); });
    }
    for (int d = half; d < end; ++d) {
      add(d, [&](int g) ADIT_INLINE_LAMBDA { return Kv::LoadSecond(KeyRow<V, Kv>(keys, group + g, row + d - half)); });
    }
  } else {
    for (int d = begin; d < end; ++d) {
      PrefetchKeys<V, kGroups>(keys, group + kGroups, d);
      add(d, [&](int g) ADIT_INLINE_LAMBDA { return Kv::Load(KeyRow<V, Kv>(keys, group + g, d)); });
    }
  }
}

// For all positions of groups [group, group + kGroups).
template <typename V, typename Kv, int kRows, int kGroups>
[[gnu::always_inline]] inline void ScoreTile(const ChunkArray<V>& keys, const TileRows& rows, int group, V scale) {
  const int dim = keys.dim;
  const int step = Kv::kHasScales ? kKvGroup : dim;
  for (int begin = 0; begin < dim; begin += step) {
    V sums[kRows][kGroups];
    for (int r = 0; r < kRows; ++r) {
      for (int g = 0; g < kGroups; ++g) sums[r][g] = V::Zero();
    }
    const int end = dim - begin < step ? dim : begin + step;
    AddKeys<V, Kv, kRows, kGroups>(sums, keys, rows, group, begin, end);
    for (int g = 0; g < kGroups; ++g) {
      V key_scale;
      if constexpr (Kv::kHasScales) {
        key_scale = V::LoadF16(keys.scales[group + g] + begin / kKvGroup * keys.scale_stride);
      }
      for (int r = 0; r < kRows; ++r) {
        float* out = rows.weights[r] + (group + g) * V::kLanes;
        V score = sums[r][g];
        if constexpr (Kv::kHasScales) score = V::Fma(score, key_scale, begin == 0 ? V::Zero() : V::Load(out));
        V::Store(out, end == dim ? V::Mul(score, scale) : score);
      }
    }
  }
}

template <typename V, typename Kv, int kRows, int kGroups>
[[gnu::always_inline]] inline void ScoreTiles(const ChunkArray<V>& keys, const TileRows& rows, int begin, int end,
                                              V scale) {
  for (; begin + kGroups <= end; begin += kGroups) ScoreTile<V, Kv, kRows, kGroups>(keys, rows, begin, scale);
  if constexpr (kGroups > 1) {
    if (begin < end) ScoreTiles<V, Kv, kRows, kGroups / 2>(keys, rows, begin, end, scale);
  }
}

// Scores of groups [begin, end): by as many as a tile has, then what is left by half as many.
template <typename V, typename Kv, int kRows>
void Scores(const ChunkArray<V>& keys, const TileRows& rows, int begin, int end, float scale) noexcept {
  ScoreTiles<V, Kv, kRows, kTileVectors<V, kRows>>(keys, rows, begin, end, V::Broadcast(scale));
}

template <typename V>
using ScoresFunction = void (*)(const ChunkArray<V>&, const TileRows&, int, int, float) noexcept;

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTEND_SCORES_H_
