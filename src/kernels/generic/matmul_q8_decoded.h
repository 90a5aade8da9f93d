#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_DECODED_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_DECODED_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_panel.h"
#include "kernels/generic/matmul_q8_tile.h"
#include "kernels/generic/matmul_q8_tokens.h"
#include "kernels/generic/prefetch.h"
#include "kernels/generic/unroll.h"

// Weights decoded for many tokens: a byte for each code, and scales as floats. What kind of weights they were matters
// no longer but for the width of codes, how many scales there are, and offset or minimum: types that agree in these
// share tiles.
namespace adit::kernels::generic {

// A codec of the form that generic/matmul_codec.h describes, of one block.
template <class V, class DotType, int kScales, bool kOffset, bool kMin>
struct DecodedCodec {
  using F32 = typename V::F32;
  using Dot = DotType;
  static constexpr int kRecordBlocks = 1;
  static constexpr int kSubBlocks = kScales;
  static constexpr int kOffsetBits = kOffset ? 1 : 0;  // whether there is one; its size is in the gathered tokens
  static constexpr bool kHasMin = kMin;
  static constexpr int kOrder[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  static constexpr int kCodeBytes = 8 * V::kQuadBytes;
  static constexpr int kMinsAt = kSubBlocks * V::kRows;
  static constexpr int kRecordBytes = kMinsAt * 4 * (kHasMin ? 2 : 1);
  struct Record {};

  template <int g>
  [[gnu::always_inline]] static typename V::Bytes Codes(const std::byte* codes, int v) {
    return V::Load(codes + g * V::kQuadBytes + v * V::kLanes * 4);
  }
  [[gnu::always_inline]] static Record LoadRecord(const std::byte*) { return {}; }
  [[gnu::always_inline]] static F32 Scale(const Record&, const std::byte* record, int sub_block, int v) {
    return F32::Load(reinterpret_cast<const float*>(record) + sub_block * V::kRows + v * V::kLanes);
  }
  [[gnu::always_inline]] static F32 Min(const Record&, const std::byte* record, int sub_block, int v) {
    return F32::Load(reinterpret_cast<const float*>(record) + kMinsAt + sub_block * V::kRows + v * V::kLanes);
  }
};
template <class V, class W>
using DecodedFrom = DecodedCodec<V, typename W::Dot, W::kSubBlocks, W::kOffsetBits != 0, W::kHasMin>;

// A stretch of a panel, decoded to the form D.
template <class V, class D>
struct Stretch {
  alignas(64) std::byte units[static_cast<size_t>(Panel<V, D>::Bytes(kStretchBlocks))];
};

// Whether W has ForQuads (generic/matmul_codec_grid.h) in the place of Codes and Scale.
template <class W>
concept LooksUp = requires {
  W::kLooksUp;
};

// Decodes a block of 32 columns: codes [8 quads][kRows][4], and scales and minima as floats.
template <class V, class W>
[[gnu::always_inline]] inline void DecodeColumns(const std::byte* from_codes, const typename W::Record& record,
                                                 const std::byte* from_record, int block, std::byte* codes,
                                                 float* floats) {
  using F32 = typename V::F32;
  Unroll<8 * V::kVecs>([&](auto j) ADIT_INLINE_LAMBDA {
    constexpr int g = W::kOrder[j.value / V::kVecs];
    constexpr int v = j.value % V::kVecs;
    V::Store(codes + g * V::kQuadBytes + v * V::kLanes * 4, W::template Codes<g>(from_codes, v));
  });
  Unroll<W::kSubBlocks * V::kVecs>([&](auto j) ADIT_INLINE_LAMBDA {
    constexpr int kSub = j.value / V::kVecs;
    constexpr int v = j.value % V::kVecs;
    const int sub_block = block * W::kSubBlocks + kSub;
    float* scale = floats + kSub * V::kRows + v * V::kLanes;
    F32::Store(scale, W::Scale(record, from_record, sub_block, v));
    if constexpr (W::kHasMin) F32::Store(scale + W::kSubBlocks * V::kRows, W::Min(record, from_record, sub_block, v));
  });
}

// The same where codes are looked up.
template <class V, class W>
[[gnu::always_inline]] inline void DecodeLookedUp(const std::byte* from_codes, const std::byte* from_record, int block,
                                                  std::byte* codes, float* floats) {
  using F32 = typename V::F32;
  alignas(64) typename W::Group index[V::kVecs][W::kNumGroups + 1];
  for (int v = 0; v < V::kVecs; ++v) W::MakeIndices(from_codes, v, index[v]);
  for (int v = 0; v < V::kVecs; ++v) {
    F32 scale[W::kSubBlocks];
    F32 min[W::kSubBlocks];
    W::LoadScales(from_codes, from_record, block, v, scale, min);
    Unroll<W::kSubBlocks>([&](auto sub) ADIT_INLINE_LAMBDA {
      float* to = floats + sub.value * V::kRows + v * V::kLanes;
      F32::Store(to, scale[sub.value]);
      if constexpr (W::kHasMin) F32::Store(to + W::kSubBlocks * V::kRows, min[sub.value]);
    });
    W::ForQuads(from_codes, v, index[v], [&](auto quad, auto weight) ADIT_INLINE_LAMBDA {
      V::Store(codes + quad.value * V::kQuadBytes + v * V::kLanes * 4, W::ToCodes(weight));
    });
  }
}

// Decodes num_records records of W, from the start of a unit on.
template <class V, class W>
[[gnu::always_inline]] inline void DecodeStretch(const std::byte* from, int64_t num_records,
                                                 Stretch<V, DecodedFrom<V, W>>& to) {
  using D = DecodedFrom<V, W>;
  for (int64_t i = 0; i < num_records; ++i) {
    const int64_t first = i * W::kRecordBlocks;
    const std::byte* from_record = Panel<V, W>::Record(from, first);
    const auto record = W::LoadRecord(from_record);
    for (int block = 0; block < W::kRecordBlocks; ++block) {
      const std::byte* from_codes = Panel<V, W>::Codes(from, first) + block * W::kCodeBytes;
      std::byte* codes = Panel<V, D>::Codes(to.units, first + block);
      auto* floats = reinterpret_cast<float*>(Panel<V, D>::Record(to.units, first + block));
      if constexpr (LooksUp<W>) {
        DecodeLookedUp<V, W>(from_codes, from_record, block, codes, floats);
      } else {
        DecodeColumns<V, W>(from_codes, record, from_record, block, codes, floats);
      }
    }
  }
}

// sums[kTokens][kRows] += num_blocks blocks of a stretch times gathered tokens. With each block the next `step` bytes
// from `next` on are prefetched, unless it is null: all at once, a processor would drop most of what it cannot wait
// for.
template <class V, class D, int kTokens>
[[gnu::noinline]] void AddDecodedTile(const Stretch<V, D>& weights, int64_t num_blocks, const std::byte* tokens,
                                      float* sums, const std::byte* next, int64_t step) {
  TileTokens<V, D, kTokens> x = {tokens};
  for (int64_t block = 0; block < num_blocks; ++block) {
    if (next != nullptr) {
      Prefetch(next, step);
      next += step;
    }
    AddBlock<V, D, kTokens>(Panel<V, D>::Codes(weights.units, block), {}, Panel<V, D>::Record(weights.units, block), 0,
                            x, sums);
    x.Next();
  }
}

// Tokens of a chunk that have a second term in one block of a stretch.
template <class V, class D, int kTokens>
struct SecondTile {
  int16_t rows[kTokens];  // of the sums; spare places repeat the first and hold zeros
  int block;
  alignas(16) std::byte tokens[TileTokens<V, D, kTokens>::kBlockBytes];
};

// sums[row][kRows] += a stretch times second terms.
template <class V, class D, int kTokens>
[[gnu::noinline]] void AddSecondTiles(const Stretch<V, D>& weights, const SecondTile<V, D, kTokens>* tiles,
                                      int num_tiles, float* sums) {
  for (const auto* tile = tiles; tile != tiles + num_tiles; ++tile) {
    const PickedTokens<V, D, kTokens> x = {{tile->tokens}, tile->rows};
    AddBlock<V, D, kTokens>(Panel<V, D>::Codes(weights.units, tile->block), {},
                            Panel<V, D>::Record(weights.units, tile->block), 0, x, sums);
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_DECODED_H_
