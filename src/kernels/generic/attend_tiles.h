#ifndef ADIT_KERNELS_GENERIC_ATTEND_TILES_H_
#define ADIT_KERNELS_GENERIC_ATTEND_TILES_H_

#include "kernels/generic/kv_type.h"

// What the two products of attention, q k^T and weights v, have in common: attend_scores.h, attend_values.h. They take
// a few rows at once. A row is one query's head; the rows of a tile share a KV head. Positions count from the start of
// the chunk, and come in groups of V::kLanes, which lie in one block.
//
// Every score is a sum over d in order, and every output a sum over positions in order, each step one FMA in one lane:
// so a row's bits depend neither on the rows beside it nor on the shape of the tile. Codes are widened to float and
// summed like that: those of a key over kKvGroup elements, and then the sum times their scale is added to the score;
// those of values by a weight that their scale has multiplied before.
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
// read next. Keys: the next tile's. Values: those of this many groups further, 64 tokens, all their lines. One core,
// F16 in blocks of 16, depth 2048, from memory, GB/s:
//                                            Zen 3 (AVX2)            Zen 5 (AVX-512)
//                                 asked for: nothing  32 tokens      a line of 32  32 tokens  64   128
//   3 KV heads of 3 heads of 64              12.3     15.5           24.8          27.0       33   28
//   8 KV heads of 4 heads of 128             7.0      11.7           19.8          25.2       27   23
// On Zen 3 16 to 64 tokens measure alike. The last values of a chunk ask for the first keys of the next. Keys of two
// tiles further instead of the next measure 2 to 8 % less.
template <typename V>
inline constexpr int kValueGroupsAhead = 64 / V::kLanes;
// Most groups that a tile looks ahead.
inline constexpr int kMaxGroupsAhead = 8;

// The keys or the values of a chunk, as far as a call reads them: for each group, where those of its first token start.
// Behind the last group there are addresses that are only prefetched.
template <typename V>
struct ChunkArray {
  const std::byte* elements[kNumGroups<V> + kMaxGroupsAhead];
  const uint16_t* scales[kNumGroups<V> + kMaxGroupsAhead];  // where the type has them
  int64_t stride;                                           // bytes between rows of keys, or between values of tokens
  int64_t scale_stride;                                     // numbers from one group of elements to the next
  int dim;
};

struct TileRows {
  const float* q[kMaxTileRows];  // [k_dim] each
  float* weights[kMaxTileRows];  // [kAttentionChunk]: scores, then softmax weights
  float* values[kMaxTileRows];   // [v_dim] sums
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

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTEND_TILES_H_
