#ifndef ADIT_KERNELS_ATTENTION_H_
#define ADIT_KERNELS_ATTENTION_H_

#include <cstddef>
#include <cstdint>

// Argument structs of attention over paged keys and values. Plain data: instruction-set files include this, and
// functions are always inlined so that no copy of them, compiled for a newer processor, can be the one that the linker
// keeps.
namespace adit::kernels {

enum class KvType : uint8_t { kF32, kF16, kBF16 };
[[gnu::always_inline]] constexpr size_t KvTypeBytes(KvType type) { return type == KvType::kF32 ? 4 : 2; }

// Keys and values of one layer, in blocks of block_size tokens. For each KV head, one after the other, a block holds
//   keys   [k_dim, block_size]  tokens are the fast dimension, so that the lanes of a vector are tokens
//   values [block_size, v_dim]  right behind the keys of the same head
// block_size is a multiple of 16. Slots that have not been written may hold anything.
struct KvView {
  std::byte* base = nullptr;  // block 0 of this layer
  size_t block_bytes = 0;     // from one block to the next
  KvType type = KvType::kF16;
  int block_size = 0;
  int num_kv_heads = 0;
  int k_dim = 0;
  int v_dim = 0;
};
// Bytes of one layer's part of a block.
[[gnu::always_inline]] constexpr size_t KvBlockBytes(KvType type, int block_size, int num_kv_heads, int k_dim,
                                                     int v_dim) {
  return KvTypeBytes(type) * static_cast<size_t>(block_size) * static_cast<size_t>(num_kv_heads) *
         static_cast<size_t>(k_dim + v_dim);
}

// Writes one token's keys and values of all heads into a slot of a block.
struct StoreKvArgs {
  KvView kv;
  int32_t block_id = 0;
  int slot = 0;              // 0..block_size-1
  const float* k = nullptr;  // [num_kv_heads, k_dim]
  const float* v = nullptr;  // [num_kv_heads, v_dim]
};

// Positions are taken in chunks of this many, counted from 0 of the sequence. The softmax of a chunk is computed by
// itself and then merged, in the order of chunks: so whoever computes which chunk, the bits are the same. Merging is
// not associative: a state of several chunks may be merged into (the left operand), but what is merged into it is the
// state of one chunk.
inline constexpr int64_t kAttentionChunk = 256;

// Queries of one sequence that lie at consecutive positions.
struct AttendArgs {
  const float* q = nullptr;  // [num_queries, num_heads, k_dim]
  int64_t q_stride = 0;      // elements between queries
  KvView kv;
  const int32_t* block_table = nullptr;  // block id of positions [i * block_size, (i + 1) * block_size)
  int64_t first_position = 0;            // of query 0; query i attends to positions <= first_position + i
  int64_t window = 0;                    // 0: all of them; else the last `window`, the query's own included
  int heads_per_kv = 1;                  // query heads that share a KV head
  float scale = 1.0f;                    // of the scores
};

// Running softmax attention of one (query, head): the largest score, the sum of exp(score - largest), and the values
// weighted by exp(score - largest). Empty: {-inf, 0, zeros}.
//   float max, sum, values[v_dim]  then padding to a multiple of 16 floats
[[gnu::always_inline]] constexpr int64_t AttnStateFloats(int v_dim) { return (v_dim + 2 + 15) / 16 * 16; }

// Most queries that one call of attend takes.
inline constexpr int64_t kMaxAttendQueries = 16;

// Floats of scratch that attend needs: scores of a chunk, and one chunk's states.
[[gnu::always_inline]] constexpr int64_t AttendScratchFloats(int heads_per_kv, int v_dim) {
  return kMaxAttendQueries * heads_per_kv * (kAttentionChunk + AttnStateFloats(v_dim));
}

// Which part of an AttendArgs one call computes.
struct AttendWork {
  int kv_head = 0;
  int64_t query_begin = 0;  // at most kMaxAttendQueries queries
  int64_t query_end = 0;
  int64_t chunk_begin = 0;  // chunks beyond the causal end or before the window add nothing
  int64_t chunk_end = 0;
  float* states = nullptr;   // [query_end - query_begin, heads_per_kv, AttnStateFloats(v_dim)], merged into
  float* scratch = nullptr;  // AttendScratchFloats, 64-byte aligned
};

}  // namespace adit::kernels

#endif  // ADIT_KERNELS_ATTENTION_H_
