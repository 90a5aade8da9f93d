#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_q8_decoded.h"
#include "kernels/generic/matmul_q8_looked_up.h"
#include "kernels/generic/matmul_q8_tile.h"
#include "kernels/generic/matmul_q8_tokens.h"
#include "kernels/generic/matmul_store.h"
#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"

// The product of packed block types with Q8 activations: of vectors V of an instruction set and codec W of a type.
//
// Few tokens (decode): weights are decoded in registers as they stream from memory, once for every kDirectTile tokens.
// Bound by memory: panel_bytes for each panel. Where codes are looked up (generic/matmul_q8_looked_up.h) they are so
// for up to kMaxLookedUpTokens of them; of more tokens, a stretch of columns is decoded into the first-level cache once
// for all. Bound by the look-ups.
//
// Many tokens (prefill, large batches): of a group of panels and a chunk of tokens, a stretch of columns at a time is
// decoded into the first-level cache and multiplied with all tokens of the chunk. Weights come from memory once for a
// group of panels, activations once for a group and chunk. Bound by the operations that generic/matmul_q8_tile.h
// counts.
namespace adit::kernels::generic {

template <class V, class W>
class MatmulQ8 {
 public:
  [[gnu::always_inline]] static size_t PanelBytes(int64_t num_cols) {
    return CodeSectionBytes(num_cols) + PadTo64(num_cols / kRecordCols * W::kRecordBytes);
  }

  [[gnu::always_inline]] static void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) {
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) PackPanel(args, panel);
  }

  [[gnu::always_inline]] static void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) {
    const int64_t most = args.second_terms.q8 == nullptr ? W::kMaxDirectTokens : kMaxDirectTokensOfTwoTerms;
    if (args.num_tokens <= most) {
      for (int64_t panel = panel_begin; panel < panel_end; ++panel) {
        if constexpr (LooksUp<W>) {
          if (args.second_terms.q8 == nullptr && args.num_tokens <= kMaxLookedUpTokens) {
            MultiplyLookedUp(args, panel);
          } else {
            MultiplyFewDecoded(args, panel);
          }
        } else {
          MultiplyDirect(args, panel);
        }
      }
      return;
    }
    for (int64_t panel = panel_begin; panel < panel_end; panel += kGroupPanels) {
      const int64_t rest = panel_end - panel;
      MultiplyGroup(args, panel, static_cast<int>(rest < kGroupPanels ? rest : kGroupPanels));
    }
  }

 private:
  using F32 = typename V::F32;
  using Block = typename W::Block;
  using Decoded = DecodedFrom<V, W>;

  static constexpr int kRecordCols = kQ8Block * W::kRecordBlocks;
  static constexpr int kDirectTile = 4;
  // A tile adds second terms for all its tokens where one has them: with many tokens it is better to pick them out.
  static constexpr int64_t kMaxDirectTokensOfTwoTerms = 8;
  static constexpr int kChunkTokens = kMatmulChunkTokens;
  static constexpr int kGroupPanels = kMatmulGroupPanels;
  static_assert(kStretchBlocks % W::kRecordBlocks == 0 && kChunkTokens % V::kLargeTile == 0);

  [[gnu::always_inline]] static constexpr size_t PadTo64(int64_t bytes) {
    return static_cast<size_t>((bytes + 63) / 64 * 64);
  }
  [[gnu::always_inline]] static constexpr size_t CodeSectionBytes(int64_t num_cols) {
    return PadTo64(num_cols / kQ8Block * W::kCodeBytes);
  }

  static void PackPanel(const PackArgs& args, int64_t panel) {
    static constexpr std::byte kZeros[sizeof(Block)] = {};
    std::byte* codes = args.panels + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    std::byte* record = codes + CodeSectionBytes(args.num_cols);
    const int64_t num_records = args.num_cols / kRecordCols;
    for (int64_t i = 0; i < num_records; ++i) {
      for (int lane = 0; lane < V::kRows; ++lane) {
        const int64_t row = panel * V::kRows + lane;
        const std::byte* source = kZeros;
        if (row < args.num_rows) source = args.rows + static_cast<size_t>(row) * args.row_bytes + i * sizeof(Block);
        Block block;
        __builtin_memcpy(&block, source, sizeof(block));
        W::Pack(block, codes, record, lane);
      }
      codes += W::kRecordBlocks * W::kCodeBytes;
      record += W::kRecordBytes;
    }
  }

  // Column 32 * block of a panel; block is a multiple of kRecordBlocks.
  [[gnu::always_inline]] static PanelPosition PanelAt(const MatmulArgs& args, int64_t panel, int64_t block) {
    const std::byte* codes = args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    return {codes + block * W::kCodeBytes,
            codes + CodeSectionBytes(args.num_cols) + block / W::kRecordBlocks * W::kRecordBytes};
  }

  // Tokens from `token` on, from column 32 * block on.
  template <class Codec>
  [[gnu::always_inline]] static RowTokens<V, Codec> RowsAt(const ActivationView& x, int64_t num_cols, int64_t token,
                                                           int64_t block) {
    const std::byte* row = x.q8 + token * x.q8_stride;
    return {reinterpret_cast<const int8_t*>(row) + block * kQ8Block,
            reinterpret_cast<const float*>(row + Q8ScalesOffset(num_cols)) + block,
            reinterpret_cast<const int32_t*>(row + Q8SumsOffset(num_cols)) + block * 2, x.q8_stride};
  }

  // Which blocks of the stretch that begins at `block` have second terms of `token`.
  [[gnu::always_inline]] static unsigned SecondBlocks(const MatmulArgs& args, int64_t token, int64_t block) {
    const ActivationView& x = args.second_terms;
    return static_cast<unsigned>(x.q8[token * x.q8_stride + Q8CodedOffset(args.num_cols) + block / 8]);
  }

  // Adds the second terms of one stretch. Where a token of the tile has none its codes and scale are 0.
  template <int kTokens>
  [[gnu::noinline]] static void AddSecondTerms(const MatmulArgs& args, PanelPosition weights, int64_t token,
                                               int64_t block, float* sums) {
    unsigned blocks = 0;
    for (int t = 0; t < kTokens; ++t) blocks |= SecondBlocks(args, token + t, block);
    for (; blocks != 0; blocks &= blocks - 1) {
      const int i = __builtin_ctz(blocks);
      const std::byte* record = weights.records + i / W::kRecordBlocks * W::kRecordBytes;
      AddBlock<V, W, kTokens>(weights.codes + i * W::kCodeBytes, W::LoadRecord(record), record, i % W::kRecordBlocks,
                              RowsAt<W>(args.second_terms, args.num_cols, token, block + i), sums);
    }
  }

  template <int kTokens>
  [[gnu::noinline]] static void MultiplyDirectTile(const MatmulArgs& args, int64_t panel, int64_t token) {
    alignas(64) float sums[kTokens * V::kRows];
    Unroll<kTokens * V::kVecs>([&](auto i) ADIT_INLINE_LAMBDA { F32::Store(sums + i.value * V::kLanes, F32::Zero()); });
    const int64_t num_blocks = args.num_cols / kQ8Block;
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const PanelPosition weights = PanelAt(args, panel, block);
      const int64_t rest = num_blocks - block;
      AddTile<V, W, kTokens, true>(weights.codes, weights.records,
                                   (rest < kStretchBlocks ? rest : kStretchBlocks) / W::kRecordBlocks,
                                   RowsAt<W>(args.activations, args.num_cols, token, block), sums);
      if (args.second_terms.q8 != nullptr) AddSecondTerms<kTokens>(args, weights, token, block, sums);
    }
    StoreOutputs<F32, V::kVecs>(args, token, kTokens, panel * V::kRows, sums);
  }

  static void MultiplyDirect(const MatmulArgs& args, int64_t panel) {
    for (int64_t token = 0; token < args.num_tokens; token += kDirectTile) {
      const int64_t rest = args.num_tokens - token;
      if (rest >= kDirectTile) {
        MultiplyDirectTile<kDirectTile>(args, panel, token);
      } else if (rest == 3) {
        MultiplyDirectTile<3>(args, panel, token);
      } else if (rest == 2) {
        MultiplyDirectTile<2>(args, panel, token);
      } else {
        MultiplyDirectTile<1>(args, panel, token);
      }
    }
  }

  template <int kTokens>
  [[gnu::noinline]] static void MultiplyLookedUpTile(const MatmulArgs& args, int64_t panel) {
    alignas(64) float sums[kTokens * V::kRows];
    Unroll<kTokens * V::kVecs>([&](auto i) ADIT_INLINE_LAMBDA { F32::Store(sums + i.value * V::kLanes, F32::Zero()); });
    AddLookedUpTile<V, W, kTokens>(PanelAt(args, panel, 0), args.num_cols / kRecordCols,
                                   RowsAt<W>(args.activations, args.num_cols, 0, 0), sums);
    StoreOutputs<F32, V::kVecs>(args, 0, kTokens, panel * V::kRows, sums);
  }

  static void MultiplyLookedUp(const MatmulArgs& args, int64_t panel) {
    static_assert(kMaxLookedUpTokens == 4);
    switch (args.num_tokens) {
      case 1:
        return MultiplyLookedUpTile<1>(args, panel);
      case 2:
        return MultiplyLookedUpTile<2>(args, panel);
      case 3:
        return MultiplyLookedUpTile<3>(args, panel);
      default:
        return MultiplyLookedUpTile<4>(args, panel);
    }
  }

  // sums[kTokens][kRows] += num_blocks blocks of a stretch, from `block` on, times tokens, second terms last.
  template <int kTokens>
  [[gnu::noinline]] static void AddDecodedRows(const MatmulArgs& args, const Stretch<Decoded>& stretch, int64_t token,
                                               int64_t block, int64_t num_blocks, float* sums) {
    AddTile<V, Decoded, kTokens, false>(stretch.codes, stretch.records, num_blocks,
                                        RowsAt<W>(args.activations, args.num_cols, token, block), sums);
    if (args.second_terms.q8 == nullptr) return;
    unsigned blocks = 0;
    for (int t = 0; t < kTokens; ++t) blocks |= SecondBlocks(args, token + t, block);
    for (; blocks != 0; blocks &= blocks - 1) {
      const int i = __builtin_ctz(blocks);
      AddBlock<V, Decoded, kTokens>(stretch.codes + i * Decoded::kCodeBytes, {},
                                    stretch.records + i * Decoded::kRecordBytes, 0,
                                    RowsAt<W>(args.second_terms, args.num_cols, token, block + i), sums);
    }
  }

  // All tokens, kMaxDirectTokens at most.
  [[gnu::noinline]] static void MultiplyFewDecoded(const MatmulArgs& args, int64_t panel) {
    static_assert(W::kMaxDirectTokens == kMaxDirectTokensOfTwoTerms);
    alignas(64) float sums[W::kMaxDirectTokens * V::kRows];
    Stretch<Decoded> stretch;
    for (int64_t i = 0; i < args.num_tokens * V::kRows; i += V::kLanes) F32::Store(sums + i, F32::Zero());
    const int64_t num_blocks = args.num_cols / kQ8Block;
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const int64_t rest = num_blocks - block;
      const int64_t n = rest < kStretchBlocks ? rest : kStretchBlocks;
      const PanelPosition from = PanelAt(args, panel, block);
      DecodeStretch<V, W>(from, {from.codes + kStreamAhead, from.records + kStreamAhead}, n / W::kRecordBlocks,
                          stretch);
      int64_t token = 0;
      for (; token + kDirectTile <= args.num_tokens; token += kDirectTile) {
        AddDecodedRows<kDirectTile>(args, stretch, token, block, n, sums + token * V::kRows);
      }
      float* last = sums + token * V::kRows;
      switch (args.num_tokens - token) {
        case 3:
          AddDecodedRows<3>(args, stretch, token, block, n, last);
          break;
        case 2:
          AddDecodedRows<2>(args, stretch, token, block, n, last);
          break;
        case 1:
          AddDecodedRows<1>(args, stretch, token, block, n, last);
          break;
        default:
          break;
      }
    }
    StoreOutputs<F32, V::kVecs>(args, 0, args.num_tokens, panel * V::kRows, sums);
  }

  // Where scales change every 16 columns, half as many products share the work of a tile's end, and its large form,
  // whose instructions no longer fit in the processor's window, is the slower one.
  static constexpr int kLargeTile = W::kSubBlocks == 1 ? V::kLargeTile : V::kSmallTile;
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
      kStretchBlocks * kCoveredTokens * (TileTokens<V, Decoded, kSmallTile>::kBlockBytes / kSmallTile);

  static void GatherTokens(const MatmulArgs& args, int64_t token, int num_tokens, int64_t block, int64_t num_blocks,
                           std::byte* out) {
    ForTiles(num_tokens, [&](auto tile, int first) ADIT_INLINE_LAMBDA {
      using Tile = TileTokens<V, Decoded, tile.value>;
      const int rest = num_tokens - first;
      Tile::template Gather<W::kOffsetBits>(RowsAt<Decoded>(args.activations, args.num_cols, token + first, block),
                                            rest < tile.value ? rest : tile.value, num_blocks, out);
      out += num_blocks * Tile::kBlockBytes;
    });
  }

  using Second = SecondTile<V, Decoded, kSmallTile>;
  static constexpr int kMostSecondTiles = kStretchBlocks * ((kChunkTokens + kSmallTile - 1) / kSmallTile);

  // Gathers the second terms of a stretch, block after block. Returns how many tiles they fill.
  static int GatherSecondTerms(const MatmulArgs& args, int64_t token, int num_tokens, int64_t block, Second* tiles) {
    using Tile = TileTokens<V, Decoded, kSmallTile>;
    unsigned blocks[kChunkTokens];
    unsigned any = 0;
    for (int t = 0; t < num_tokens; ++t) any |= blocks[t] = SecondBlocks(args, token + t, block);
    Second* tile = tiles;
    for (; any != 0; any &= any - 1) {
      const int i = __builtin_ctz(any);
      const RowTokens<V, Decoded> rows = RowsAt<Decoded>(args.second_terms, args.num_cols, token, block + i);
      int used = 0;
      for (int t = 0; t < num_tokens; ++t) {
        if ((blocks[t] >> i & 1) == 0) continue;
        tile->block = i;
        tile->rows[used] = static_cast<int16_t>(t);
        Tile::template Put<W::kOffsetBits>(rows, t, used, tile->tokens);
        if (++used < kSmallTile) continue;
        ++tile;
        used = 0;
      }
      if (used == 0) continue;
      for (; used < kSmallTile; ++used) {
        tile->rows[used] = tile->rows[0];
        Tile::template PutZeros<W::kOffsetBits>(used, tile->tokens);
      }
      ++tile;
    }
    return static_cast<int>(tile - tiles);
  }

  // Outputs of num_panels <= kGroupPanels panels and num_tokens <= kChunkTokens tokens.
  static void MultiplyChunk(const MatmulArgs& args, int64_t panel, int num_panels, int64_t token, int num_tokens) {
    alignas(64) float sums[kGroupPanels][kCoveredTokens * V::kRows];
    alignas(64) std::byte gathered[kGatheredBytes];
    Second second[kMostSecondTiles];
    Stretch<Decoded> stretch;
    for (int p = 0; p < num_panels; ++p) {
      for (int i = 0; i < kCoveredTokens * V::kRows; i += V::kLanes) F32::Store(&sums[p][i], F32::Zero());
    }
    const int64_t num_blocks = args.num_cols / kQ8Block;
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const int64_t rest = num_blocks - block;
      const int64_t n = rest < kStretchBlocks ? rest : kStretchBlocks;
      GatherTokens(args, token, num_tokens, block, n, gathered);
      const int num_second =
          args.second_terms.q8 == nullptr ? 0 : GatherSecondTerms(args, token, num_tokens, block, second);
      for (int p = 0; p < num_panels; ++p) {
        const PanelPosition next =
            p + 1 < num_panels ? PanelAt(args, panel + p + 1, block) : PanelAt(args, panel, block + n);
        DecodeStretch<V, W>(PanelAt(args, panel + p, block), next, n / W::kRecordBlocks, stretch);
        const std::byte* tokens = gathered;
        ForTiles(num_tokens, [&](auto tile, int first) ADIT_INLINE_LAMBDA {
          AddDecodedTile<V, Decoded, tile.value>(stretch, n, tokens, &sums[p][first * V::kRows]);
          tokens += n * TileTokens<V, Decoded, tile.value>::kBlockBytes;
        });
        AddSecondTiles(stretch, second, num_second, sums[p]);
      }
    }
    for (int p = 0; p < num_panels; ++p) {
      StoreOutputs<F32, V::kVecs>(args, token, num_tokens, (panel + p) * V::kRows, sums[p]);
    }
  }

  [[gnu::noinline]] static void MultiplyGroup(const MatmulArgs& args, int64_t panel, int num_panels) {
    // Chunks of equal size, whole tiles each.
    const int64_t num_chunks = (args.num_tokens + kChunkTokens - 1) / kChunkTokens;
    const int64_t even = (args.num_tokens + num_chunks - 1) / num_chunks;
    const int64_t chunk = (even + kLargeTile - 1) / kLargeTile * kLargeTile;
    for (int64_t token = 0; token < args.num_tokens; token += chunk) {
      const int64_t rest = args.num_tokens - token;
      MultiplyChunk(args, panel, num_panels, token, static_cast<int>(rest < chunk ? rest : chunk));
    }
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_H_
