#ifndef ADIT_KERNELS_GENERIC_ATTEND_H_
#define ADIT_KERNELS_GENERIC_ATTEND_H_

#include "kernels/generic/attend_scores.h"
#include "kernels/generic/attend_values.h"
#include "kernels/generic/attn_state.h"
#include "kernels/generic/exp.h"
#include "kernels/generic/softcap.h"

// softmax(scale * q k^T) v over paged keys and values, chunk by chunk (FlashAttention, Dao et al. 2022; the split over
// chunks is that of FlashDecoding). Sums are float32.
//
// Bytes moved: keys and values of the KV head once a chunk, for all queries and heads of the call. Operations: for each
// query head and position 2 (k_dim + v_dim) and about 20 for the exponential. With few rows (decode) the limit is the
// memory or cache that holds the keys, with many the FMA units. Codes move half or a quarter of the bytes of halves,
// but widening them takes as many instructions (kQ8_0) or half as many again (kQ4_0), so that they are near the second
// limit. Decode of one core of an EPYC 7003 (Zen 3) at depth 4096, blocks of 16, ns for each position from memory and,
// in brackets, from the third-level cache; a second core beside it gets the same:
//   KV heads x heads x dim   F16         BF16        Q8_0        Q4_0        keys Q8_0, values Q4_0
//   3 x 3 x 64               56 (33)     55 (39)     48 (40)     53 (48)     51 (44)
//   8 x 4 x 128              384 (317)   399 (338)   312 (263)   306 (287)   299 (274)
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
  const int64_t end = position + 1 > args.seen_by_all ? position + 1 : args.seen_by_all;
  return {ClampToChunk<V>(begin), ClampToChunk<V>(end - chunk_begin)};
}

// What a call reads of a chunk.
template <typename V>
struct Chunk {
  ChunkArray<V> keys;
  ChunkArray<V> values;
};

// Finds the groups that hold positions of `range`, which is not empty; others may lie in blocks that the table does not
// have. Scales lie apart from what tiles prefetch, so those of values are asked for here.
template <typename V>
[[gnu::always_inline]] inline void FindGroups(const AttendArgs& args, int kv_head, int64_t chunk_index, Range range,
                                              Chunk<V>& chunk) {
  const KvView& kv = args.kv;
  const KvHeadLayout layout = LayoutOf<V>(kv);
  const size_t key_bytes = KvTokenBytes(kv.k_type, 1);  // of what a row of keys has for a token
  const auto block_size = static_cast<size_t>(kv.block_size);
  chunk.keys.stride = static_cast<int64_t>(key_bytes * block_size);
  chunk.keys.dim = kv.k_dim;
  chunk.values.stride = static_cast<int64_t>(KvTokenBytes(kv.v_type, kv.v_dim));
  chunk.values.dim = kv.v_dim;
  chunk.keys.scale_stride = chunk.values.scale_stride = kv.block_size;
  const int begin = range.begin / V::kLanes;
  const int end = (range.end + V::kLanes - 1) / V::kLanes;
  const auto position = static_cast<size_t>(chunk_index * kAttentionChunk + begin * V::kLanes);
  const int32_t* block_id = args.block_table + position / block_size;
  HeadBlock block = FindHead<V>(kv, layout, *block_id, kv_head);
  size_t slot = position % block_size;
  for (int group = begin; group < end; ++group, slot += V::kLanes) {
    if (slot == block_size) {
      block = FindHead<V>(kv, layout, *++block_id, kv_head);
      slot = 0;
    }
    chunk.keys.elements[group] = block.keys.elements + slot * key_bytes;
    chunk.keys.scales[group] = block.keys.scales + slot;
    chunk.values.elements[group] = block.values.elements + slot * static_cast<size_t>(chunk.values.stride);
    chunk.values.scales[group] = block.values.scales + slot;
    if (HasScales(kv.v_type)) __builtin_prefetch(chunk.values.scales[group]);
  }
}

// What is read behind the groups of a chunk, only to be prefetched: after its keys its values, and after its values the
// keys of the next chunk, of which positions below `end` are there.
template <typename V>
[[gnu::always_inline]] inline void LookAhead(const AttendArgs& args, int kv_head, int64_t chunk_index, Range range,
                                             int64_t end, Chunk<V>& chunk) {
  const KvView& kv = args.kv;
  const KvHeadLayout layout = LayoutOf<V>(kv);
  const size_t token_bytes = KvTokenBytes(kv.k_type, kv.k_dim);
  const int group_begin = range.begin / V::kLanes;
  const int group_end = (range.end + V::kLanes - 1) / V::kLanes;
  for (int i = 0; i < kMaxGroupsAhead; ++i) {
    const int group = group_begin + i < group_end ? group_begin + i : group_begin;
    chunk.keys.elements[group_end + i] = chunk.values.elements[group];
    const int64_t position = (chunk_index + 1) * kAttentionChunk + i * V::kLanes;
    if (position < end) {
      const HeadBlock block = FindHead<V>(kv, layout, args.block_table[position / kv.block_size], kv_head);
      chunk.values.elements[group_end + i] =
          block.keys.elements + static_cast<size_t>(position % kv.block_size) * token_bytes;
    } else {
      chunk.values.elements[group_end + i] = chunk.values.elements[group_end - 1];
    }
  }
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

// The two products for each number of rows, 1..kMaxTileRows.
template <typename V>
struct KeyFunctions {
  ScoresFunction<V> scores[kMaxTileRows];
};
template <typename V>
struct ValueFunctions {
  ValuesFunction<V> weighted_values[kMaxTileRows];
};
template <typename V, typename Kv>
inline constexpr KeyFunctions<V> kKeyFunctions = {
    {Scores<V, Kv, 1>, Scores<V, Kv, 2>, Scores<V, Kv, 3>, Scores<V, Kv, 4>, Scores<V, Kv, 5>, Scores<V, Kv, 6>}};
template <typename V, typename Kv>
inline constexpr ValueFunctions<V> kValueFunctions = {{WeightedValues<V, Kv, 1>, WeightedValues<V, Kv, 2>,
                                                       WeightedValues<V, Kv, 3>, WeightedValues<V, Kv, 4>,
                                                       WeightedValues<V, Kv, 5>, WeightedValues<V, Kv, 6>}};

// num_rows neighbouring rows of a call. `first_row` counts [query, head of the group].
template <typename V>
void AttendRows(const AttendArgs& args, const AttendWork& work, const KeyFunctions<V>& key_functions,
                const ValueFunctions<V>& value_functions, const Chunk<V>& chunk, int64_t chunk_index, int first_row,
                int num_rows) noexcept {
  const int64_t state_floats = AttnStateFloats(args.kv.v_dim);
  float* states = work.scratch + kMaxAttendQueries * args.heads_per_kv * kAttentionChunk + first_row * state_floats;
  TileRows rows = {};
  Range ranges[kMaxTileRows] = {};
  for (int r = 0; r < num_rows; ++r) {
    const int64_t query = work.query_begin + (first_row + r) / args.heads_per_kv;
    const int64_t head = int64_t{work.kv_head} * args.heads_per_kv + (first_row + r) % args.heads_per_kv;
    rows.q[r] = args.q + query * args.q_stride + head * args.kv.k_dim;
    rows.weights[r] = work.scratch + (first_row + r) * kAttentionChunk;
    rows.values[r] = states + r * state_floats + 2;
    ranges[r] = Visible<V>(args, args.first_position + query, chunk_index);
  }
  // Both ends of the range never fall from one row to the next.
  const Range& last = ranges[num_rows - 1];
  const int group_end = (last.end + V::kLanes - 1) / V::kLanes;
  key_functions.scores[num_rows - 1](chunk.keys, rows, ranges[0].begin / V::kLanes, group_end, args.scale);
  for (int r = 0; r < num_rows; ++r) {
    float* state = states + r * state_floats;
    if (args.softcap > 0.0f) {
      Softcap<V>({rows.weights[r] + ranges[r].begin, ranges[r].end - ranges[r].begin, args.softcap});
    }
    Softmax<V>(rows.weights[r], ranges[r], &state[0], &state[1]);
    for (int d = 0; d < args.kv.v_dim; ++d) rows.values[r][d] = 0.0f;
  }
  // What all rows see they do together; what lies before and behind, each by itself, for a position that a row does not
  // see may hold anything.
  const int begin = last.begin;
  const int end = ranges[0].end > begin ? ranges[0].end : begin;
  const auto alone = [&](int r, int from, int to) {
    const TileRows one = {{rows.q[r]}, {rows.weights[r]}, {rows.values[r]}};
    if (from < to) value_functions.weighted_values[0](chunk.values, one, from, to);
  };
  for (int r = 0; r < num_rows; ++r) alone(r, ranges[r].begin, ranges[r].end < begin ? ranges[r].end : begin);
  if (begin < end) value_functions.weighted_values[num_rows - 1](chunk.values, rows, begin, end);
  for (int r = 0; r < num_rows; ++r) alone(r, ranges[r].begin > end ? ranges[r].begin : end, ranges[r].end);
}

template <typename V>
void Attend(const AttendArgs& args, const AttendWork& work, const KeyFunctions<V>& key_functions,
            const ValueFunctions<V>& value_functions) noexcept {
  const int64_t state_floats = AttnStateFloats(args.kv.v_dim);
  const float* chunk_states = work.scratch + kMaxAttendQueries * args.heads_per_kv * kAttentionChunk;
  Chunk<V> chunk;
  for (int64_t index = work.chunk_begin; index < work.chunk_end; ++index) {
    // The queries that see some of the chunk: the others are before it or, past the window, behind.
    int64_t begin = work.query_begin;
    int64_t end = work.query_end;
    Range first = {0, 0};
    Range last = {0, 0};
    for (; begin < end; ++begin) {
      first = Visible<V>(args, args.first_position + begin, index);
      if (first.begin < first.end) break;
    }
    for (; end > begin; --end) {
      last = Visible<V>(args, args.first_position + end - 1, index);
      if (last.begin < last.end) break;
    }
    if (begin == end) continue;
    FindGroups<V>(args, work.kv_head, index, {first.begin, last.end}, chunk);
    const int64_t last_end =
        args.first_position + end > args.seen_by_all ? args.first_position + end : args.seen_by_all;
    const int64_t seen_end = index + 1 < work.chunk_end ? last_end : 0;
    LookAhead<V>(args, work.kv_head, index, {first.begin, last.end}, seen_end, chunk);
    const int row_begin = static_cast<int>(begin - work.query_begin) * args.heads_per_kv;
    const int row_end = static_cast<int>(end - work.query_begin) * args.heads_per_kv;
    // As few tiles as there can be, of sizes that differ by one at most.
    int num_tiles = (row_end - row_begin + kMaxTileRows - 1) / kMaxTileRows;
    for (int row = row_begin; row < row_end; --num_tiles) {
      const int num_rows = (row_end - row + num_tiles - 1) / num_tiles;
      AttendRows<V>(args, work, key_functions, value_functions, chunk, index, row, num_rows);
      row += num_rows;
    }
    for (int row = row_begin; row < row_end; ++row) {
      MergeStates<V>(chunk_states + row * state_floats, work.states + row * state_floats, args.kv.v_dim);
    }
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTEND_H_
