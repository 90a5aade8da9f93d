#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_TOKENS_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_TOKENS_H_

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.h"

// Where a register tile of generic/matmul_q8_tile.h reads its activations. V is the vector type of the instruction set,
// W the codec of the weights, which says what is needed of the sums of activation codes.
namespace adit::kernels::generic {

// Columns of one scale of the activations, and bytes of their codes.
inline constexpr int kQ8Block = 32;

// Blocks of 32 columns that are multiplied with first terms before second terms follow, and that are decoded at a time
// for many tokens: the codes, 4 KB for 16 rows and 8 KB for 32, stay in the first-level cache beside the activations of
// a chunk of tokens, 15 KB, and their sums, 3 or 6 KB. As many as there are bits in a byte of Q8 `coded`.
inline constexpr int kStretchBlocks = 8;

// Activations as quantize_q8 writes them, from some column on; tokens are `stride` bytes apart.
template <class V, class W>
struct RowTokens {
  using F32 = typename V::F32;
  using Ints = typename V::Ints;
  const int8_t* codes;
  const float* scales;
  const int32_t* sums;
  int64_t stride;

  template <int g>
  [[gnu::always_inline]] typename V::Bytes Quad(int t) const {
    return V::BroadcastQuad(CodesOf(t) + 4 * g);
  }
  [[gnu::always_inline]] F32 Scale(int t) const { return F32::Broadcast(*ScaleOf(t)); }
  template <int kSub>
  [[gnu::always_inline]] F32 Sum(int t) const {
    return V::ToFloat(IntSum<kSub>(t));
  }
  template <int kSub>
  [[gnu::always_inline]] Ints MinusOffset(int t) const {
    return V::template MinusShifted<W::kOffsetBits>(IntSum<kSub>(t));
  }
  [[gnu::always_inline]] static int Row(int t) { return t; }
  [[gnu::always_inline]] const int8_t* CodesOf(int t) const { return At(codes, t); }
  [[gnu::always_inline]] const float* ScaleOf(int t) const { return At(scales, t); }
  [[gnu::always_inline]] const int32_t* SumsOf(int t) const { return At(sums, t); }
  [[gnu::always_inline]] void Next() {
    codes += kQ8Block;
    scales += 1;
    sums += 2;
  }

 private:
  template <class T>
  [[gnu::always_inline]] const T* At(const T* p, int t) const {
    return reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(p) + t * stride);
  }
  template <int kSub>
  [[gnu::always_inline]] Ints IntSum(int t) const {
    const int32_t* p = SumsOf(t);
    if constexpr (W::kSubBlocks == 2) return V::BroadcastInt(p + kSub);
    return V::Add(V::BroadcastInt(p), V::BroadcastInt(p + 1));
  }
};

// Tokens from `token` on, from column 32 * block on.
template <class V, class W>
[[gnu::always_inline]] inline RowTokens<V, W> RowsAt(const ActivationView& x, int64_t num_cols, int64_t token,
                                                     int64_t block) {
  const std::byte* row = x.q8 + token * x.q8_stride;
  return {reinterpret_cast<const int8_t*>(row) + block * kQ8Block,
          reinterpret_cast<const float*>(row + Q8ScalesOffset(num_cols)) + block,
          reinterpret_cast<const int32_t*>(row + Q8SumsOffset(num_cols)) + block * 2, x.q8_stride};
}

// Which blocks of the stretch that begins at `block` have second terms of `token`.
[[gnu::always_inline]] inline unsigned SecondBlocks(const MatmulArgs& args, int64_t token, int64_t block) {
  const ActivationView& x = args.second_terms;
  return static_cast<unsigned>(x.q8[token * x.q8_stride + Q8CodedOffset(args.num_cols) + block / 8]);
}

// Activations of kTokens tokens gathered block by block, so that a tile reads one stream with constant distances:
//   int8_t codes[kTokens][32], float scales[kTokens], then for each sub-block [kTokens] what W needs of the sums: as
//   floats for minima, as negated offsets, or nothing.
template <class V, class W, int kTokens>
struct TileTokens {
  using F32 = typename V::F32;
  using Ints = typename V::Ints;
  static constexpr bool kHasSums = W::kHasMin || W::kOffsetBits != 0;
  static constexpr int kScalesAt = kTokens * kQ8Block;
  static constexpr int kSumsAt = kScalesAt + kTokens * 4;
  static constexpr int kBlockBytes = kSumsAt + (kHasSums ? W::kSubBlocks * kTokens * 4 : 0);
  const std::byte* block;

  template <int g>
  [[gnu::always_inline]] typename V::Bytes Quad(int t) const {
    return V::BroadcastQuad(reinterpret_cast<const int8_t*>(block) + t * kQ8Block + 4 * g);
  }
  [[gnu::always_inline]] F32 Scale(int t) const {
    return F32::Broadcast(*reinterpret_cast<const float*>(block + kScalesAt + t * 4));
  }
  template <int kSub>
  [[gnu::always_inline]] F32 Sum(int t) const {
    return F32::Broadcast(*reinterpret_cast<const float*>(block + kSumsAt + (kSub * kTokens + t) * 4));
  }
  template <int kSub>
  [[gnu::always_inline]] Ints MinusOffset(int t) const {
    return V::BroadcastInt(reinterpret_cast<const int32_t*>(block + kSumsAt + (kSub * kTokens + t) * 4));
  }
  [[gnu::always_inline]] static int Row(int t) { return t; }
  [[gnu::always_inline]] void Next() { block += kBlockBytes; }

  // Gathers num_blocks blocks of num_tokens <= kTokens tokens; further tokens are zeros. The offset of codes is
  // 2^offset_bits, where W has one. As many blocks beyond them are prefetched: they are gathered next.
  static void Gather(RowTokens<V, W> rows, int offset_bits, int num_tokens, int64_t num_blocks, std::byte* out) {
    for (int64_t b = 0; b < num_blocks; ++b) {
      for (int t = 0; t < kTokens; ++t) {
        if (t >= num_tokens) {
          PutZeros(t, out);
          continue;
        }
        if (b % 2 == 0) __builtin_prefetch(rows.CodesOf(t) + num_blocks * kQ8Block);
        if (b == 0) __builtin_prefetch(rows.ScaleOf(t) + num_blocks);
        if (kHasSums && b == 0) __builtin_prefetch(rows.SumsOf(t) + 2 * num_blocks);
        Put(rows, offset_bits, t, t, out);
      }
      rows.Next();
      out += kBlockBytes;
    }
  }

  // Token `from` of rows as token t of a block.
  static void Put(const RowTokens<V, W>& rows, int offset_bits, int from, int t, std::byte* out) {
    __builtin_memcpy(out + t * kQ8Block, rows.CodesOf(from), kQ8Block);
    __builtin_memcpy(out + kScalesAt + t * 4, rows.ScaleOf(from), 4);
    if constexpr (kHasSums) {
      const int32_t* s = rows.SumsOf(from);
      PutSums(s[0], s[1], offset_bits, out + kSumsAt + t * 4);
    }
  }
  static void PutZeros(int t, std::byte* out) {
    __builtin_memset(out + t * kQ8Block, 0, kQ8Block);
    __builtin_memset(out + kScalesAt + t * 4, 0, 4);
    if constexpr (kHasSums) PutSums(0, 0, 0, out + kSumsAt + t * 4);
  }

 private:
  static void PutSums(int32_t first, int32_t second, int offset_bits, std::byte* out) {
    if constexpr (W::kSubBlocks == 1) {
      PutSum(first + second, offset_bits, out);
    } else {
      PutSum(first, offset_bits, out);
      PutSum(second, offset_bits, out + kTokens * 4);
    }
  }
  static void PutSum(int32_t sum, int offset_bits, std::byte* out) {
    if constexpr (W::kHasMin) {
      const float value = static_cast<float>(sum);
      __builtin_memcpy(out, &value, sizeof(value));
    } else {
      const int32_t value = -(sum * (1 << offset_bits));
      __builtin_memcpy(out, &value, sizeof(value));
    }
  }
};

// One block of kTokens tokens picked from a chunk: those that have second terms there.
template <class V, class W, int kTokens>
struct PickedTokens : TileTokens<V, W, kTokens> {
  const int16_t* rows;  // [kTokens], of the sums

  [[gnu::always_inline]] int Row(int t) const { return rows[t]; }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_TOKENS_H_
