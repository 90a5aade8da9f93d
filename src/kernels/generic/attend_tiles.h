#ifndef ADIT_KERNELS_GENERIC_ATTEND_TILES_H_
#define ADIT_KERNELS_GENERIC_ATTEND_TILES_H_

#include "kernels/generic/kv_type.h"

// The two products of attention, q k^T and weights v, for a few rows at once. A row is one query's head; the rows of a
// tile share a KV head. Positions count from the start of the chunk, and come in groups of V::kLanes, which lie in one
// block.
//
// Every score is a sum over d in order, and every output a sum over positions in order, each step one FMA in one lane:
// so a row's bits depend neither on the rows beside it nor on the shape of the tile.
//
// Tiles hold their sums in registers. With R rows and C vectors, one step of the innermost loop does R * C FMAs for C
// loads (widened once for all rows) and R broadcasts. Two FMAs a cycle with a latency of four cycles want at least
// eight sums; sixteen registers hold twelve sums, a vector and its broadcasts, thirty-two hold twenty-four.
namespace adit::kernels::generic {

// Most rows of a tile.
inline constexpr int kMaxTileRows = 6;

// Vectors of a tile of kRows rows.
template <typename V, int kRows>
inline constexpr int kTileVectors = kRows == 1                            ? 8
                                    : (kRows <= 3 || V::kRegisters >= 32) ? 4
                                                                          : 2;

template <typename V>
inline constexpr int kNumGroups = static_cast<int>(kAttentionChunk) / V::kLanes;

// Blocks lie anywhere in the pool, so the processor's own prefetching starts afresh in each: tiles ask for what they
// read next. Keys: the next tile's. Values: those of this many groups further, 32 tokens; 16 to 64 measure alike. One
// core of an EPYC 7003 (Zen 3), F16 in blocks of 16, depth 2048, from memory, GB/s without and with:
//   3 KV heads of 3 heads of 64   12.3  15.5        8 KV heads of 4 heads of 128   7.0  11.7
template <typename V>
inline constexpr int kValueGroupsAhead = 32 / V::kLanes;
// Most groups that a tile looks ahead.
inline constexpr int kMaxGroupsAhead = 8;

// The part of a chunk that a call reads: for each group, where its keys and values start. Behind the last group, only
// to be prefetched, the keys go on with the values, which are read next.
template <typename V, typename Kv>
struct ChunkGroups {
  const typename Kv::Stored* keys[kNumGroups<V> + kMaxGroupsAhead];    // [k_dim, kLanes], rows key_stride apart
  const typename Kv::Stored* values[kNumGroups<V> + kMaxGroupsAhead];  // [kLanes, v_dim]
  int64_t key_stride;
  int k_dim;
  int v_dim;
};

template <int kRows>
struct TileRows {
  const float* q[kRows];  // [k_dim] each
  float* weights[kRows];  // [kAttentionChunk]: scores, then softmax weights
  float* values[kRows];   // [v_dim] sums
};

// sums[r][c] += rows[r] * columns(c), with the fewer of the two held in registers and the other taken one by one: then
// twelve sums leave sixteen registers enough.
template <typename V, int kRows, int kColumns, typename Row, typename Column>
[[gnu::always_inline]] inline void AddOuterProduct(V (&sums)[kRows][kColumns], Row row, Column column) {
  if constexpr (kRows < kColumns) {
    V rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = row(r);
    for (int c = 0; c < kColumns; ++c) {
      const V x = column(c);
      for (int r = 0; r < kRows; ++r) sums[r][c] = V::Fma(rows[r], x, sums[r][c]);
    }
  } else {
    V columns[kColumns];
    for (int c = 0; c < kColumns; ++c) columns[c] = column(c);
    for (int r = 0; r < kRows; ++r) {
      const V x = row(r);
      for (int c = 0; c < kColumns; ++c) sums[r][c] = V::Fma(x, columns[c], sums[r][c]);
    }
  }
}

// weights = scale * q . key for all positions of groups [group, group + kGroups).
template <typename V, typename Kv, int kRows, int kGroups>
[[gnu::always_inline]] inline void ScoreTile(const ChunkGroups<V, Kv>& chunk, const TileRows<kRows>& rows,
                                             int64_t group, V scale) {
  V sums[kRows][kGroups];
  for (int r = 0; r < kRows; ++r) {
    for (int g = 0; g < kGroups; ++g) sums[r][g] = V::Zero();
  }
  constexpr int kGroupsOfABlock = 16 / V::kLanes;  // at least so many
  for (int d = 0; d < chunk.k_dim; ++d) {
    for (int g = 0; g < kGroups; g += kGroupsOfABlock) {
      __builtin_prefetch(chunk.keys[group + kGroups + g] + d * chunk.key_stride);
    }
    AddOuterProduct<V, kRows, kGroups>(
        sums, [&](int r) __attribute__((always_inline)) { return V::Broadcast(rows.q[r][d]); },
        [&](int g) __attribute__((always_inline)) { return Kv::Load(chunk.keys[group + g] + d * chunk.key_stride); });
  }
  for (int r = 0; r < kRows; ++r) {
    for (int g = 0; g < kGroups; ++g) V::Store(rows.weights[r] + (group + g) * V::kLanes, V::Mul(sums[r][g], scale));
  }
}

// Scores of groups [begin, end): by kGroups, then what is left by half as many.
template <typename V, typename Kv, int kRows, int kGroups = kTileVectors<V, kRows>>
inline void Scores(const ChunkGroups<V, Kv>& chunk, const TileRows<kRows>& rows, int64_t begin, int64_t end,
                   V scale) noexcept {
  for (; begin + kGroups <= end; begin += kGroups) ScoreTile<V, Kv, kRows, kGroups>(chunk, rows, begin, scale);
  if constexpr (kGroups > 1) {
    if (begin < end) Scores<V, Kv, kRows, kGroups / 2>(chunk, rows, begin, end, scale);
  }
}

// values += weight * value over positions [begin, end), for kVectors vectors from column d; or the last `partial`
// columns.
template <typename V, typename Kv, int kRows, int kVectors, bool kPartial = false>
[[gnu::always_inline]] inline void ValueTile(const ChunkGroups<V, Kv>& chunk, const TileRows<kRows>& rows, int begin,
                                             int end, int d, int partial = 0) {
  constexpr int kLanes = V::kLanes;
  V sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      const float* p = rows.values[r] + d + c * kLanes;
      sums[r][c] = kPartial ? V::LoadPartial(p, partial) : V::LoadU(p);
    }
  }
  for (int position = begin; position < end;) {
    const int group = position / kLanes;
    const int group_end = (group + 1) * kLanes < end ? (group + 1) * kLanes : end;
    const auto* value = chunk.values[group] + static_cast<int64_t>(position % kLanes) * chunk.v_dim + d;
    const auto* ahead =
        chunk.values[group + kValueGroupsAhead<V>] + static_cast<int64_t>(position % kLanes) * chunk.v_dim + d;
    for (; position < group_end; ++position, value += chunk.v_dim, ahead += chunk.v_dim) {
      __builtin_prefetch(ahead);
      AddOuterProduct<V, kRows, kVectors>(
          sums, [&](int r) __attribute__((always_inline)) { return V::Broadcast(rows.weights[r][position]); },
          [&](int c) __attribute__((always_inline)) {
            return kPartial ? Kv::LoadPartial(value, partial) : Kv::Load(value + c * kLanes);
          });
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kVectors; ++c) {
      float* p = rows.values[r] + d + c * kLanes;
      if constexpr (kPartial) {
        V::StorePartial(p, sums[r][c], partial);
      } else {
        V::StoreU(p, sums[r][c]);
      }
    }
  }
}

// All columns from d: by kVectors vectors, then what is left by half as many, then the partial vector.
template <typename V, typename Kv, int kRows, int kVectors = kTileVectors<V, kRows>>
inline void WeightedValues(const ChunkGroups<V, Kv>& chunk, const TileRows<kRows>& rows, int begin, int end,
                           int d = 0) noexcept {
  constexpr int kColumns = kVectors * V::kLanes;
  for (; d + kColumns <= chunk.v_dim; d += kColumns) ValueTile<V, Kv, kRows, kVectors>(chunk, rows, begin, end, d);
  if (d == chunk.v_dim) return;
  if constexpr (kVectors > 1) {
    WeightedValues<V, Kv, kRows, kVectors / 2>(chunk, rows, begin, end, d);
  } else {
    ValueTile<V, Kv, kRows, 1, true>(chunk, rows, begin, end, d, chunk.v_dim - d);
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTEND_TILES_H_
