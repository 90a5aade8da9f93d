#ifndef ADIT_KERNELS_GENERIC_ATTEND_H_
#define ADIT_KERNELS_GENERIC_ATTEND_H_

#include "kernels/generic/attend_tiles.h"
#include "kernels/generic/attn_state.h"
#include "kernels/generic/exp.h"

// softmax(scale * q k^T) v over paged keys and values, chunk by chunk (FlashAttention, Dao et al. 2022; the split over
// chunks is that of FlashDecoding). Sums are float32.
//
// Bytes moved: keys and values of the KV head once a chunk, for all queries and heads of the call. Operations: for each
// query head and position 2 (k_dim + v_dim) and about 20 for the exponential. With few rows (decode) the limit is the
// memory or cache that holds the keys, with many the FMA units.
namespace adit::kernels::generic {

// Positions [begin, end), from the start of the chunk.
struct Range {
  int begin;
  int end;
};

template <typename V>
[[gnu::always_inline]] inline int ClampToChunk(int64_t position) {
  if (position < 0) return 0;
  return static_cast<int>(position < kAttentionChunk ? position : kAttentionChunk);
}

// What a query at `position` of the sequence sees of a chunk; begin >= end when that is nothing.
template <typename V>
[[gnu::always_inline]] inline Range Visible(const AttendArgs& args, int64_t position, int64_t chunk) {
  const int64_t chunk_begin = chunk * kAttentionChunk;
  const int64_t begin = args.window > 0 ? position - args.window + 1 - chunk_begin : 0;
  return {ClampToChunk<V>(begin), ClampToChunk<V>(position + 1 - chunk_begin)};
}

// Finds the groups that hold positions of `range`, which is not empty; others may lie in blocks that the table does not
// have.
template <typename V, typename Kv>
[[gnu::always_inline]] inline ChunkGroups<V, Kv> FindGroups(const AttendArgs& args, int kv_head, int64_t chunk,
                                                            Range range) {
  ChunkGroups<V, Kv> groups;
  groups.key_stride = args.kv.block_size;
  groups.k_dim = args.kv.k_dim;
  groups.v_dim = args.kv.v_dim;
  const int begin = range.begin / V::kLanes;
  const int end = (range.end + V::kLanes - 1) / V::kLanes;
  for (int group = begin; group < end; ++group) {
    const int64_t position = chunk * kAttentionChunk + group * V::kLanes;
    const int64_t slot = position % args.kv.block_size;
    const HeadBlock<Kv> block(args.kv, args.block_table[position / args.kv.block_size], kv_head);
    groups.keys[group] = block.keys + slot;
    groups.values[group] = block.values + slot * args.kv.v_dim;
  }
  for (int i = 0; i < kMaxGroupsAhead; ++i) {
    groups.keys[end + i] = groups.values[begin + i < end ? begin + i : begin];
    groups.values[end + i] = groups.values[end - 1];
  }
  return groups;
}

// Turns the scores of `range` into exp(score - largest) and gives the largest and the sum. Position i is added in lane
// i % kLanes, in order, then lanes as V::ReduceAdd says. Positions of the first and last group outside the range add
// 1.2e-38 each, which is nothing beside the 1 of the largest score.
template <typename V>
[[gnu::always_inline]] inline void Softmax(float* weights, Range range, float* largest, float* sum) {
  constexpr int kLanes = V::kLanes;
  const int begin = range.begin / kLanes * kLanes;
  const int end = (range.end + kLanes - 1) / kLanes * kLanes;
  for (int i = begin; i < range.begin; ++i) weights[i] = -__builtin_inff();
  for (int i = range.end; i < end; ++i) weights[i] = -__builtin_inff();
  V max = V::Broadcast(-__builtin_inff());
  for (int i = begin; i < end; i += kLanes) max = V::Max(max, V::Load(weights + i));
  *largest = V::ReduceMax(max);
  max = V::Broadcast(*largest);
  V total = V::Zero();
  for (int i = begin; i < end; i += kLanes) {
    const V weight = ExpNonPositive(V::Sub(V::Load(weights + i), max));
    V::Store(weights + i, weight);
    total = V::Add(total, weight);
  }
  *sum = V::ReduceAdd(total);
}

// kRows neighbouring rows of a call. `row` counts [query, head of the group].
template <typename V, typename Kv, int kRows>
void AttendRows(const AttendArgs& args, const AttendWork& work, const ChunkGroups<V, Kv>& chunk, int64_t chunk_index,
                int row) noexcept {
  const int64_t state_floats = AttnStateFloats(args.kv.v_dim);
  float* states = work.scratch + kMaxAttendQueries * args.heads_per_kv * kAttentionChunk + row * state_floats;
  TileRows<kRows> rows;
  Range ranges[kRows];
  for (int r = 0; r < kRows; ++r) {
    const int64_t query = work.query_begin + (row + r) / args.heads_per_kv;
    const int64_t head = int64_t{work.kv_head} * args.heads_per_kv + (row + r) % args.heads_per_kv;
    rows.q[r] = args.q + query * args.q_stride + head * args.kv.k_dim;
    rows.weights[r] = work.scratch + (row + r) * kAttentionChunk;
    rows.values[r] = states + r * state_floats + 2;
    ranges[r] = Visible<V>(args, args.first_position + query, chunk_index);
  }
  // Both ends of the range never fall from one row to the next.
  const int group_end = (ranges[kRows - 1].end + V::kLanes - 1) / V::kLanes;
  Scores<V, Kv, kRows>(chunk, rows, ranges[0].begin / V::kLanes, group_end, V::Broadcast(args.scale));
  for (int r = 0; r < kRows; ++r) {
    float* state = states + r * state_floats;
    Softmax<V>(rows.weights[r], ranges[r], &state[0], &state[1]);
    for (int d = 0; d < args.kv.v_dim; ++d) rows.values[r][d] = 0.0f;
  }
  // What all rows see they do together; what lies before and behind, each by itself, for a position that a row does not
  // see may hold anything.
  const int begin = ranges[kRows - 1].begin;
  const int end = ranges[0].end > begin ? ranges[0].end : begin;
  const auto alone = [&](int r, int from, int to) {
    const TileRows<1> one = {{rows.q[r]}, {rows.weights[r]}, {rows.values[r]}};
    if (from < to) WeightedValues<V, Kv, 1>(chunk, one, from, to);
  };
  for (int r = 0; r < kRows; ++r) alone(r, ranges[r].begin, ranges[r].end < begin ? ranges[r].end : begin);
  if (begin < end) WeightedValues<V, Kv, kRows>(chunk, rows, begin, end);
  for (int r = 0; r < kRows; ++r) alone(r, ranges[r].begin > end ? ranges[r].begin : end, ranges[r].end);
}

// AttendRows for each number of rows, 1..kMaxTileRows.
template <typename V, typename Kv>
inline constexpr void (*kAttendRows[])(const AttendArgs&, const AttendWork&, const ChunkGroups<V, Kv>&, int64_t,
                                       int) noexcept = {AttendRows<V, Kv, 1>, AttendRows<V, Kv, 2>,
                                                        AttendRows<V, Kv, 3>, AttendRows<V, Kv, 4>,
                                                        AttendRows<V, Kv, 5>, AttendRows<V, Kv, 6>};

template <typename V, typename Kv>
void Attend(const AttendArgs& args, const AttendWork& work) noexcept {
  const int64_t state_floats = AttnStateFloats(args.kv.v_dim);
  const float* chunk_states = work.scratch + kMaxAttendQueries * args.heads_per_kv * kAttentionChunk;
  for (int64_t chunk = work.chunk_begin; chunk < work.chunk_end; ++chunk) {
    // The queries that see some of the chunk: the others are before it or, past the window, behind.
    int64_t begin = work.query_begin;
    int64_t end = work.query_end;
    Range first = {0, 0};
    Range last = {0, 0};
    for (; begin < end; ++begin) {
      first = Visible<V>(args, args.first_position + begin, chunk);
      if (first.begin < first.end) break;
    }
    for (; end > begin; --end) {
      last = Visible<V>(args, args.first_position + end - 1, chunk);
      if (last.begin < last.end) break;
    }
    if (begin == end) continue;
    const auto groups = FindGroups<V, Kv>(args, work.kv_head, chunk, {first.begin, last.end});
    const int row_begin = static_cast<int>(begin - work.query_begin) * args.heads_per_kv;
    const int row_end = static_cast<int>(end - work.query_begin) * args.heads_per_kv;
    // As few tiles as there can be, of sizes that differ by one at most.
    int num_tiles = (row_end - row_begin + kMaxTileRows - 1) / kMaxTileRows;
    for (int row = row_begin; row < row_end; --num_tiles) {
      const int num_rows = (row_end - row + num_tiles - 1) / num_tiles;
      kAttendRows<V, Kv>[num_rows - 1](args, work, groups, chunk, row);
      row += num_rows;
    }
    for (int row = row_begin; row < row_end; ++row) {
      MergeStates<V>(chunk_states + row * state_floats, work.states + row * state_floats, args.kv.v_dim);
    }
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTEND_H_
