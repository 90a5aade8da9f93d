#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_MANY_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_MANY_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_q8_decoded.h"
#include "kernels/generic/matmul_q8_tile.h"
#include "kernels/generic/matmul_q8_tokens.h"
#include "kernels/generic/matmul_store.h"
#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"

// The product of packed block types with many tokens (prefill, large batches): of a group of panels and a chunk of
// tokens, a stretch of columns at a time is decoded into the first-level cache and multiplied with all tokens of the
// chunk. Weights come from memory once for a group of panels, activations once for a group and chunk. Bound by the
// operations that generic/matmul_q8_tile.h counts.
namespace adit::kernels::generic {

// Where decoded weights come from; types whose decoded form is the same share all that follows.
template <class V, class D>
struct DecodedSource {
  // Column 32 * block of a panel.
  const std::byte* (*at)(const MatmulArgs& args, int64_t panel, int64_t block);
  // Decodes num_blocks <= kStretchBlocks blocks.
  void (*decode)(const std::byte* from, int64_t num_blocks, Stretch<V, D>& to);
  int64_t block_bytes;  // of a block in a panel, with its part of the record
  int offset_bits;      // the offset of codes is 2^offset_bits, where D has one
};

template <class V, class D>
class MatmulQ8Many {
 public:
  using Source = DecodedSource<V, D>;

  [[gnu::noinline]] static void Multiply(const MatmulArgs& args, const Source& source, int64_t panel_begin,
                                         int64_t panel_end) {
    for (int64_t panel = panel_begin; panel < panel_end; panel += kGroupPanels) {
      const int64_t rest = panel_end - panel;
      MultiplyGroup(args, source, panel, static_cast<int>(rest < kGroupPanels ? rest : kGroupPanels));
    }
  }

 private:
  using F32 = typename V::F32;

  static constexpr int kChunkTokens = kMatmulChunkTokens;
  static constexpr int kGroupPanels = kMatmulGroupPanels;
  static_assert(kChunkTokens % V::kLargeTile == 0);

  // Where scales change every 16 columns, half as many products share the work of a tile's end, and its large form,
  // whose instructions no longer fit in the processor's window, is the slower one.
  static constexpr int kLargeTile = D::kSubBlocks == 1 ? V::kLargeTile : V::kSmallTile;
  static constexpr int kSmallTile = V::kSmallTile;

  static_assert(kLargeTile == kSmallTile || 2 * kLargeTile == 3 * kSmallTile);

  // How many small tiles beside large ones cover num_tokens tokens with the least to spare; three are two large ones.
  static int NumSmallTiles(int num_tokens) {
    int best = 0;
    int least = kLargeTile;
    for (int num_small = 0; num_small < 3; ++num_small) {
      const int rest = num_tokens - num_small * kSmallTile;
      const int spare = rest <= 0 ? -rest : (kLargeTile - rest % kLargeTile) % kLargeTile;
      if (spare < least) {
        best = num_small;
        least = spare;
      }
    }
    return best;
  }

  // Calls body(Index<tokens of a tile>(), first token) for tiles that cover num_tokens tokens.
  template <class Body>
  [[gnu::always_inline]] static void ForTiles(int num_tokens, Body&& body) {
    const int large_end = num_tokens - NumSmallTiles(num_tokens) * kSmallTile;
    int token = 0;
    for (; token < large_end; token += kLargeTile) body(Index<kLargeTile>(), token);
    for (; token < num_tokens; token += kSmallTile) body(Index<kSmallTile>(), token);
  }

  // Most tokens that the tiles of a chunk cover.
  static constexpr int kCoveredTokens = kChunkTokens + kSmallTile;
  static constexpr int kGatheredBytes =
      kStretchBlocks * kCoveredTokens * (TileTokens<V, D, kSmallTile>::kBlockBytes / kSmallTile);

  static void GatherTokens(const MatmulArgs& args, int offset_bits, int64_t token, int num_tokens, int64_t block,
                           int64_t num_blocks, std::byte* out) {
    ForTiles(num_tokens, [&](auto tile, int first) ADIT_INLINE_LAMBDA {
      using Tile = TileTokens<V, D, tile.value>;
      const int rest = num_tokens - first;
      Tile::Gather(RowsAt<V, D>(args.activations, args.num_cols, token + first, block), offset_bits,
                   rest < tile.value ? rest : tile.value, num_blocks, out);
      out += num_blocks * Tile::kBlockBytes;
    });
  }

  using Second = SecondTile<V, D, kSmallTile>;
  static constexpr int kMostSecondTiles = kStretchBlocks * ((kChunkTokens + kSmallTile - 1) / kSmallTile);

  // Gathers the second terms of a stretch, block after block. Returns how many tiles they fill.
  static int GatherSecondTerms(const MatmulArgs& args, int offset_bits, int64_t token, int num_tokens, int64_t block,
                               Second* tiles) {
    using Tile = TileTokens<V, D, kSmallTile>;
    int16_t tokens[kStretchBlocks][kChunkTokens];  // that have second terms in a block
    int counts[kStretchBlocks] = {};
    for (int t = 0; t < num_tokens; ++t) {
      for (unsigned bits = SecondBlocks(args, token + t, block); bits != 0; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        tokens[i][counts[i]++] = static_cast<int16_t>(t);
      }
    }
    Second* tile = tiles;
    for (int i = 0; i < kStretchBlocks; ++i) {
      const RowTokens<V, D> rows = RowsAt<V, D>(args.second_terms, args.num_cols, token, block + i);
      for (int first = 0; first < counts[i]; first += kSmallTile, ++tile) {
        tile->block = i;
        for (int j = 0; j < kSmallTile; ++j) {
          const bool is_spare = first + j >= counts[i];
          tile->rows[j] = tokens[i][is_spare ? first : first + j];
          if (is_spare) {
            Tile::PutZeros(j, tile->tokens);
          } else {
            Tile::Put(rows, offset_bits, tile->rows[j], j, tile->tokens);
          }
        }
      }
    }
    return static_cast<int>(tile - tiles);
  }

  // Outputs of num_panels <= kGroupPanels panels and num_tokens <= kChunkTokens tokens.
  static void MultiplyChunk(const MatmulArgs& args, const Source& source, int64_t panel, int num_panels, int64_t token,
                            int num_tokens) {
    alignas(64) float sums[kGroupPanels][kCoveredTokens * V::kRows];
    alignas(64) std::byte gathered[kGatheredBytes];
    Second second[kMostSecondTiles];
    Stretch<V, D> stretch;
    int covered = 0;
    ForTiles(num_tokens, [&](auto tile, int first) ADIT_INLINE_LAMBDA { covered = first + tile.value; });
    for (int p = 0; p < num_panels; ++p) {
      for (int i = 0; i < covered * V::kRows; i += V::kLanes) F32::Store(&sums[p][i], F32::Zero());
    }
    const int64_t num_blocks = args.num_cols / kQ8Block;
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const int64_t rest = num_blocks - block;
      const int64_t n = rest < kStretchBlocks ? rest : kStretchBlocks;
      GatherTokens(args, source.offset_bits, token, num_tokens, block, n, gathered);
      const int num_second = args.second_terms.q8 == nullptr
                                 ? 0
                                 : GatherSecondTerms(args, source.offset_bits, token, num_tokens, block, second);
      for (int p = 0; p < num_panels; ++p) {
        const std::byte* next =
            p + 1 < num_panels ? source.at(args, panel + p + 1, block) : source.at(args, panel, block + n);
        source.decode(source.at(args, panel + p, block), n, stretch);
        const std::byte* tokens = gathered;
        ForTiles(num_tokens, [&](auto tile, int first) ADIT_INLINE_LAMBDA {
          AddDecodedTile<V, D, tile.value>(stretch, n, tokens, &sums[p][first * V::kRows], first == 0 ? next : nullptr,
                                           source.block_bytes);
          tokens += n * TileTokens<V, D, tile.value>::kBlockBytes;
        });
        AddSecondTiles(stretch, second, num_second, sums[p]);
      }
    }
    for (int p = 0; p < num_panels; ++p) {
      StoreOutputs<F32, V::kVecs>(args, token, num_tokens, (panel + p) * V::kRows, sums[p]);
    }
  }

  static void MultiplyGroup(const MatmulArgs& args, const Source& source, int64_t panel, int num_panels) {
    // Chunks of equal size, whole tiles each.
    const int64_t num_chunks = (args.num_tokens + kChunkTokens - 1) / kChunkTokens;
    const int64_t even = (args.num_tokens + num_chunks - 1) / num_chunks;
    const int64_t chunk = (even + kLargeTile - 1) / kLargeTile * kLargeTile;
    for (int64_t token = 0; token < args.num_tokens; token += chunk) {
      const int64_t rest = args.num_tokens - token;
      MultiplyChunk(args, source, panel, num_panels, token, static_cast<int>(rest < chunk ? rest : chunk));
    }
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_MANY_H_
