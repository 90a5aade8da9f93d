#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_panel.h"
#include "kernels/generic/matmul_q8_decoded.h"
#include "kernels/generic/matmul_q8_looked_up.h"
#include "kernels/generic/matmul_q8_many.h"
#include "kernels/generic/matmul_q8_tile.h"
#include "kernels/generic/matmul_q8_tokens.h"
#include "kernels/generic/matmul_store.h"
#include "kernels/generic/prefetch.h"
#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"

// The product of packed block types with Q8 activations: of vectors V of an instruction set and codec W of a type.
//
// Few tokens (decode): weights are decoded in registers as they stream from memory, once for every kDirectTile tokens.
// Bound by memory: panel_bytes for each panel. Where codes are looked up (generic/matmul_q8_looked_up.h) they are so
// for up to kMaxLookedUpTokens of them; of more tokens, a stretch of columns is decoded into the first-level cache once
// for all. Bound by the look-ups.
//
// Many tokens: generic/matmul_q8_many.h.
namespace adit::kernels::generic {

template <class V, class W>
class MatmulQ8 {
 public:
  [[gnu::always_inline]] static size_t PanelBytes(int64_t num_cols) {
    return static_cast<size_t>((Panel::Bytes(num_cols / kQ8Block) + 63) / 64 * 64);
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
    MatmulQ8Many<V, Decoded>::Multiply(args, {&PanelAt, &Decode, Panel::kUnitBytes / Panel::kBlocks, W::kOffsetBits},
                                       panel_begin, panel_end);
  }

 private:
  using F32 = typename V::F32;
  using Block = typename W::Block;
  using Decoded = DecodedFrom<V, W>;
  using Panel = generic::Panel<V, W>;

  static constexpr int kRecordCols = kQ8Block * W::kRecordBlocks;
  static constexpr int kDirectTile = 4;
  // A tile adds second terms for all its tokens where one has them: with many tokens it is better to pick them out.
  static constexpr int64_t kMaxDirectTokensOfTwoTerms = 8;
  static_assert(kStretchBlocks % Panel::kBlocks == 0);

  static void PackPanel(const PackArgs& args, int64_t panel) {
    static constexpr std::byte kZeros[sizeof(Block)] = {};
    std::byte* units = args.panels + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    const int64_t num_records = args.num_cols / kRecordCols;
    for (int64_t i = 0; i < num_records; ++i) {
      for (int lane = 0; lane < V::kRows; ++lane) {
        const int64_t row = panel * V::kRows + lane;
        const std::byte* source = kZeros;
        if (row < args.num_rows) source = args.rows + static_cast<size_t>(row) * args.row_bytes + i * sizeof(Block);
        Block block;
        __builtin_memcpy(&block, source, sizeof(block));
        W::Pack(block, Panel::Codes(units, i * W::kRecordBlocks), Panel::Record(units, i * W::kRecordBlocks), lane);
      }
    }
  }

  // Column 32 * block of a panel; block is a multiple of Panel::kBlocks.
  static const std::byte* PanelAt(const MatmulArgs& args, int64_t panel, int64_t block) {
    return args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols) +
           block / Panel::kBlocks * Panel::kUnitBytes;
  }

  [[gnu::noinline]] static void Decode(const std::byte* from, int64_t num_blocks, Stretch<V, Decoded>& to) {
    DecodeStretch<V, W>(from, num_blocks / W::kRecordBlocks, to);
  }

  // sums[kRows] += the second terms of one token in the stretch that begins at `block`.
  [[gnu::noinline]] static void AddSecondTerms(const MatmulArgs& args, const std::byte* units, int64_t token,
                                               int64_t block, float* sums) {
    for (unsigned blocks = SecondBlocks(args, token, block); blocks != 0; blocks &= blocks - 1) {
      const int i = __builtin_ctz(blocks);
      const std::byte* record = Panel::Record(units, i);
      AddBlock<V, W, 1>(Panel::Codes(units, i), W::LoadRecord(record), record, i % W::kRecordBlocks,
                        RowsAt<V, W>(args.second_terms, args.num_cols, token, block + i), sums);
    }
  }

  template <int kTokens>
  [[gnu::noinline]] static void MultiplyDirectTile(const MatmulArgs& args, int64_t panel, int64_t token) {
    alignas(64) float sums[kTokens * V::kRows];
    Unroll<kTokens * V::kVecs>([&](auto i) ADIT_INLINE_LAMBDA { F32::Store(sums + i.value * V::kLanes, F32::Zero()); });
    const int64_t num_blocks = args.num_cols / kQ8Block;
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const std::byte* units = PanelAt(args, panel, block);
      const int64_t rest = num_blocks - block;
      AddTile<V, W, kTokens, true>(units, (rest < kStretchBlocks ? rest : kStretchBlocks) / W::kRecordBlocks,
                                   RowsAt<V, W>(args.activations, args.num_cols, token, block), sums);
      if (args.second_terms.q8 == nullptr) continue;
      for (int t = 0; t < kTokens; ++t) AddSecondTerms(args, units, token + t, block, sums + t * V::kRows);
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
                                   RowsAt<V, W>(args.activations, args.num_cols, 0, 0), sums);
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
  [[gnu::noinline]] static void AddDecodedRows(const MatmulArgs& args, const Stretch<V, Decoded>& stretch,
                                               int64_t token, int64_t block, int64_t num_blocks, float* sums) {
    AddTile<V, Decoded, kTokens, false>(stretch.units, num_blocks,
                                        RowsAt<V, W>(args.activations, args.num_cols, token, block), sums);
    if (args.second_terms.q8 == nullptr) return;
    for (int t = 0; t < kTokens; ++t) AddSecondTermsDecoded(args, stretch, token + t, block, sums + t * V::kRows);
  }
  [[gnu::noinline]] static void AddSecondTermsDecoded(const MatmulArgs& args, const Stretch<V, Decoded>& stretch,
                                                      int64_t token, int64_t block, float* sums) {
    for (unsigned blocks = SecondBlocks(args, token, block); blocks != 0; blocks &= blocks - 1) {
      const int i = __builtin_ctz(blocks);
      AddBlock<V, Decoded, 1>(generic::Panel<V, Decoded>::Codes(stretch.units, i), {},
                              generic::Panel<V, Decoded>::Record(stretch.units, i), 0,
                              RowsAt<V, W>(args.second_terms, args.num_cols, token, block + i), sums);
    }
  }

  // All tokens, kMaxDirectTokens at most.
  [[gnu::noinline]] static void MultiplyFewDecoded(const MatmulArgs& args, int64_t panel) {
    static_assert(W::kMaxDirectTokens == kMaxDirectTokensOfTwoTerms);
    alignas(64) float sums[W::kMaxDirectTokens * V::kRows];
    Stretch<V, Decoded> stretch;
    for (int64_t i = 0; i < args.num_tokens * V::kRows; i += V::kLanes) F32::Store(sums + i, F32::Zero());
    const int64_t num_blocks = args.num_cols / kQ8Block;
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const int64_t rest = num_blocks - block;
      const int64_t n = rest < kStretchBlocks ? rest : kStretchBlocks;
      const std::byte* from = PanelAt(args, panel, block);
      Prefetch(from + F32::kStreamAhead, Panel::Bytes(n));
      Decode(from, n, stretch);
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
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_H_
