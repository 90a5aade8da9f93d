#ifndef ADIT_KERNELS_ATTENTION_H_
#define ADIT_KERNELS_ATTENTION_H_

#include <cstddef>
#include <cstdint>

// Argument structs of attention over paged keys and values. Plain data: instruction-set files include this, and
// functions are always inlined so that no copy of them, compiled for a newer processor, can be the one that the linker
// keeps.
namespace adit::kernels {

// How elements of keys or values are stored; keys and values of a cache may differ. kQ8_0 and kQ4_0 have signed codes
// of eight and four bits and a scale for each group of kKvGroup neighbouring elements of a token's key or value of one
// head; the last group may be shorter. An element is code * scale, exact in float32.
//   kQ8_0  scale = largest |x| / 127; codes round(x / scale), -127..127, wrong by scale / 2 at most
//   kQ4_0  scale = -x / 8 for the x of largest magnitude, the positive one of two, so that its code is -8;
//          codes round(x / scale), -8..7, wrong by |scale| / 2, or |scale| where 8 is cut to 7
// round() takes the nearest integer, the even one of two. The scale is an F16, rounded away from zero, so the bounds
// hold where it is subnormal too. They end where it would pass the largest F16, 65504: there it stays, and codes of
// larger elements, infinities included, are cut to the ends of their range. A group of zeros has scale 0 and codes 0. A
// group with a NaN has scale NaN and codes 0: all of it is NaN, and nothing else.
// kFp8 has no scale: one bit for the sign, four for the exponent, three for the mantissa, as "FP8 Formats for Deep
// Learning" (Micikevicius et al. 2022, arXiv:2209.05433) defines it. Rounded to nearest even; what is above 448,
// infinities included, becomes 448; below 2^-6 steps are 2^-9. NaN stays NaN.
enum class KvType : uint8_t { kF32, kF16, kBF16, kQ8_0, kQ4_0, kFp8 };
inline constexpr int kNumKvTypes = 6;
inline constexpr int kKvGroup = 32;
inline constexpr int kKvHalfGroup = kKvGroup / 2;

[[gnu::always_inline]] constexpr bool HasScales(KvType type) { return type == KvType::kQ8_0 || type == KvType::kQ4_0; }
// Groups of a key or value of `dim` elements.
[[gnu::always_inline]] constexpr int KvGroups(int dim) { return (dim + kKvGroup - 1) / kKvGroup; }

// Keys and values of one layer, in blocks of block_size tokens. For each KV head, one after the other, a block holds
// four arrays, each from a multiple of 64 bytes on; the scales are there for kQ8_0 and kQ4_0 alone, F16.
//   keys          [k_dim, block_size]            tokens are the fast dimension: the lanes of a vector are tokens
//   key scales    [KvGroups(k_dim), block_size]
//   values        [block_size, v_dim]
//   value scales  [KvGroups(v_dim), block_size]
// kQ4_0 packs codes i and i + 16 of a group into its byte i, two's complement, the first in the low four bits; a last
// group of fewer than 16 elements has a byte for each, with 0 in the high bits. So keys are [rows, block_size] and
// values [block_size, rows] bytes with rows = KvTokenBytes(); no byte belongs to two tokens, and two threads may store
// two tokens of a block at the same time. For 64 elements, a key takes 256, 128, 128, 68 or 36 bytes in the order of
// KvType, scales included, 64 in kFp8, and so does a value.
// block_size is a multiple of 16. Slots that have not been written may hold anything.
struct KvView {
  std::byte* base = nullptr;  // block 0 of this layer
  size_t block_bytes = 0;     // from one block to the next
  KvType k_type = KvType::kF16;
  KvType v_type = KvType::kF16;
  int block_size = 0;
  int num_kv_heads = 0;
  int k_dim = 0;
  int v_dim = 0;
};

// Bytes of the elements or codes of one token's key or value of one head, without scales.
[[gnu::always_inline]] constexpr size_t KvTokenBytes(KvType type, int dim) {
  const auto elements = static_cast<size_t>(dim);
  if (type == KvType::kF32) return elements * 4;
  if (type == KvType::kQ8_0 || type == KvType::kFp8) return elements;
  if (type != KvType::kQ4_0) return elements * 2;
  const int rest = dim % kKvGroup;
  return static_cast<size_t>(dim / kKvGroup * kKvHalfGroup + (rest < kKvHalfGroup ? rest : kKvHalfGroup));
}

// Where the arrays of one KV head of a block begin, in bytes from its first one, and how many bytes all take.
struct KvHeadLayout {
  size_t keys;
  size_t key_scales;
  size_t values;
  size_t value_scales;
  size_t bytes;
};
[[gnu::always_inline]] constexpr KvHeadLayout KvHeadLayoutOf(KvType k_type, KvType v_type, int block_size, int k_dim,
                                                             int v_dim) {
  const auto tokens = static_cast<size_t>(block_size);
  const size_t arrays[4] = {
      tokens * KvTokenBytes(k_type, k_dim), HasScales(k_type) ? tokens * 2 * static_cast<size_t>(KvGroups(k_dim)) : 0,
      tokens * KvTokenBytes(v_type, v_dim), HasScales(v_type) ? tokens * 2 * static_cast<size_t>(KvGroups(v_dim)) : 0};
  size_t begin[5] = {};
  for (int i = 0; i < 4; ++i) begin[i + 1] = begin[i] + (arrays[i] + 63) / 64 * 64;
  return {begin[0], begin[1], begin[2], begin[3], begin[4]};
}
// Bytes of one layer's part of a block, a multiple of 64.
[[gnu::always_inline]] constexpr size_t KvBlockBytes(KvType k_type, KvType v_type, int block_size, int num_kv_heads,
                                                     int k_dim, int v_dim) {
  return static_cast<size_t>(num_kv_heads) * KvHeadLayoutOf(k_type, v_type, block_size, k_dim, v_dim).bytes;
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
  int64_t seen_by_all = 0;               // positions below it are seen by every query, later ones too
  int64_t window = 0;                    // 0: all of them; else the last `window`, the query's own included
  int heads_per_kv = 1;                  // query heads that share a KV head
  float scale = 1.0f;                    // of the scores
  float softcap = 0.0f;                  // > 0: a score s becomes softcap * tanh(s / softcap)
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
