#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_q8_tile.h"
#include "kernels/generic/matmul_store.h"
#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"

// The product of packed block types with Q8 activations.
//
// Few tokens (decode): weights are decoded in registers as they stream from memory, once for every kDirectTile tokens.
// Bound by memory: panel_bytes for each panel.
//
// Many tokens (prefill, large batches): of a group of panels and a chunk of tokens, a stretch of columns at a time is
// decoded to bytes and floats in the first-level cache and multiplied with all tokens of the chunk. Weights come from
// memory once for a group, activations from the second-level cache or beyond once for a chunk and group.
namespace adit::kernels::generic {

// Weights of a stretch of columns as a codec of their own: bytes in the order of quads, scales and minima as floats.
template <class V, class From>
struct DecodedCodec {
  using F32 = typename V::F32;
  using Dot = typename From::Dot;
  static constexpr int kRecordBlocks = 1;
  static constexpr int kSubBlocks = From::kSubBlocks;
  static constexpr int kOffsetBits = From::kOffsetBits;
  static constexpr bool kHasMin = From::kHasMin;
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
class MatmulQ8 {
 public:
  [[gnu::always_inline]] static size_t PanelBytes(int64_t num_cols) {
    return CodeSectionBytes(num_cols) + PadTo64(num_cols / (kQ8Block * W::kRecordBlocks) * W::kRecordBytes);
  }

  [[gnu::always_inline]] static void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) {
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) PackPanel(args, panel);
  }

  [[gnu::always_inline]] static void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) {
    if (args.num_tokens <= kMaxDirectTokens) {
      for (int64_t panel = panel_begin; panel < panel_end; ++panel) MultiplyDirect(args, panel);
    } else {
      for (int64_t panel = panel_begin; panel < panel_end; panel += kGroupPanels) {
        const int64_t rest = panel_end - panel;
        MultiplyGroup(args, panel, static_cast<int>(rest < kGroupPanels ? rest : kGroupPanels));
      }
    }
  }

 private:
  using F32 = typename V::F32;
  using Block = typename W::Block;
  using Decoded = DecodedCodec<V, W>;
  using Rows = RowTokens<V, W, 1>;

  static constexpr int64_t kMaxDirectTokens = 12;
  static constexpr int kDirectTile = 4;
  static constexpr int kAhead = 4096;
  static constexpr int kChunkTokens = 48;
  static constexpr int kGroupPanels = 8;
  static constexpr int kStretchBlocks = 8;

  // One panel of the weights.
  struct Panel {
    const std::byte* codes;
    const std::byte* records;
  };

  // A stretch of decoded weights.
  struct Stretch {
    alignas(64) std::byte codes[kStretchBlocks * Decoded::kCodeBytes];
    alignas(64) std::byte records[kStretchBlocks * Decoded::kRecordBytes];
  };

  static constexpr size_t PadTo64(int64_t bytes) { return static_cast<size_t>((bytes + 63) / 64 * 64); }
  static constexpr size_t CodeSectionBytes(int64_t num_cols) { return PadTo64(num_cols / kQ8Block * W::kCodeBytes); }

  static void PackPanel(const PackArgs& args, int64_t panel) {
    alignas(64) static constexpr std::byte kZeros[sizeof(Block)] = {};
    std::byte* codes = args.panels + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    std::byte* record = codes + CodeSectionBytes(args.num_cols);
    const int64_t num_records = args.num_cols / (kQ8Block * W::kRecordBlocks);
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

  static Panel PanelAt(const MatmulArgs& args, int64_t panel) {
    const std::byte* codes = args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    return {codes, codes + CodeSectionBytes(args.num_cols)};
  }

  static Rows RowsAt(const MatmulArgs& args, int64_t token, int64_t block) {
    const std::byte* row = args.activations.q8 + token * args.activations.q8_stride;
    return {reinterpret_cast<const int8_t*>(row) + block * kQ8Block,
            reinterpret_cast<const float*>(row + Q8ScalesOffset(args.num_cols)) + block,
            reinterpret_cast<const int32_t*>(row + Q8SumsOffset(args.num_cols)) + block * 2,
            args.activations.q8_stride};
  }

  template <int kTokens>
  [[gnu::noinline]] static void DirectTile(const MatmulArgs& args, int64_t panel, int64_t token) {
    alignas(64) float acc[kTokens * V::kRows];
    Unroll<kTokens * V::kVecs>([&](auto i) ADIT_INLINE_LAMBDA { F32::Store(acc + i.value * V::kLanes, F32::Zero()); });
    const Panel weights = PanelAt(args, panel);
    const Rows rows = RowsAt(args, token, 0);
    const RowTokens<V, W, kTokens> x = {rows.codes, rows.scales, rows.sums, rows.stride};
    AddTile<V, W, kTokens, kAhead>(weights.codes, weights.records, args.num_cols / (kQ8Block * W::kRecordBlocks), x,
                                   acc);
    StoreOutputs<F32, V::kVecs>(args, token, kTokens, panel * V::kRows, acc);
  }

  static void MultiplyDirect(const MatmulArgs& args, int64_t panel) {
    for (int64_t token = 0; token < args.num_tokens; token += kDirectTile) {
      const int64_t rest = args.num_tokens - token;
      if (rest >= 4) {
        DirectTile<4>(args, panel, token);
      } else if (rest == 3) {
        DirectTile<3>(args, panel, token);
      } else if (rest == 2) {
        DirectTile<2>(args, panel, token);
      } else {
        DirectTile<1>(args, panel, token);
      }
    }
  }

  // Decodes num_records records; `next` is what will be decoded after them.
  static void DecodeStretch(Panel from, Panel next, int64_t num_records, Stretch& to) {
    std::byte* codes = to.codes;
    auto* floats = reinterpret_cast<float*>(to.records);
    for (int64_t i = 0; i < num_records; ++i) {
      const auto record = W::LoadRecord(from.records);
      for (int block = 0; block < W::kRecordBlocks; ++block) {
        for (int byte = 0; byte < W::kCodeBytes; byte += 64) __builtin_prefetch(next.codes + byte);
        Unroll<8>([&](auto step) ADIT_INLINE_LAMBDA {
          constexpr int g = W::kOrder[step.value];
          Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
            V::Store(codes + g * V::kQuadBytes + v.value * V::kLanes * 4, W::template Codes<g>(from.codes, v.value));
          });
        });
        Unroll<W::kSubBlocks * V::kVecs>([&](auto j) ADIT_INLINE_LAMBDA {
          constexpr int kSub = j.value / V::kVecs;
          constexpr int v = j.value % V::kVecs;
          const int sub_block = block * W::kSubBlocks + kSub;
          float* scale = floats + kSub * V::kRows + v * V::kLanes;
          F32::Store(scale, W::Scale(record, from.records, sub_block, v));
          if constexpr (W::kHasMin) F32::Store(scale + Decoded::kMinsAt, W::Min(record, from.records, sub_block, v));
        });
        from.codes += W::kCodeBytes;
        next.codes += W::kCodeBytes;
        codes += Decoded::kCodeBytes;
        floats += Decoded::kRecordBytes / 4;
      }
      for (int byte = 0; byte < W::kRecordBytes; byte += 64) __builtin_prefetch(next.records + byte);
      from.records += W::kRecordBytes;
      next.records += W::kRecordBytes;
    }
  }

  template <int kTokens>
  [[gnu::noinline]] static void DecodedTile(const Stretch& weights, int64_t num_blocks, const std::byte* tokens,
                                            float* acc) {
    const TileTokens<V, Decoded, kTokens> x = {tokens};
    AddTile<V, Decoded, kTokens, 0>(weights.codes, weights.records, num_blocks, x, acc);
  }

  // Calls body(Index<tile>(), first token) for tiles that cover num_tokens tokens: the largest while it is full, then
  // the smallest that covers the rest.
  template <class Body>
  [[gnu::always_inline]] static void ForTiles(int num_tokens, Body&& body) {
    int token = 0;
    for (; num_tokens - token >= V::kTiles[0]; token += V::kTiles[0]) body(Index<V::kTiles[0]>(), token);
    const int rest = num_tokens - token;
    if (rest == 0) return;
    constexpr int kNumTiles = sizeof(V::kTiles) / sizeof(V::kTiles[0]);
    Unroll<kNumTiles>([&](auto i) ADIT_INLINE_LAMBDA {
      constexpr int kSmaller = i.value + 1 < kNumTiles ? V::kTiles[(i.value + 1) % kNumTiles] : 0;
      if (rest <= V::kTiles[i.value] && rest > kSmaller) body(Index<V::kTiles[i.value]>(), token);
    });
  }

  static constexpr int kTileBytes = kStretchBlocks * (kChunkTokens + V::kTiles[0]) * (kQ8Block + 4 + 4 * W::kSubBlocks);

  static void GatherTokens(const MatmulArgs& args, int64_t token, int num_tokens, int64_t block, int64_t num_blocks,
                           std::byte* out) {
    ForTiles(num_tokens, [&](auto tile, int first) {
      using Tile = TileTokens<V, Decoded, tile.value>;
      const int rest = num_tokens - first;
      const Rows rows = RowsAt(args, token + first, block);
      const RowTokens<V, Decoded, 1> x = {rows.codes, rows.scales, rows.sums, rows.stride};
      Tile::Gather(x, rest < tile.value ? rest : tile.value, num_blocks, out);
      out += num_blocks * Tile::kBlockBytes;
    });
  }

  static void MultiplyChunk(const MatmulArgs& args, int64_t panel, int num_panels, int64_t token, int num_tokens) {
    alignas(64) float acc[kGroupPanels][(kChunkTokens + V::kTiles[0]) * V::kRows];
    alignas(64) std::byte tokens[kTileBytes];
    Stretch stretch;
    for (int p = 0; p < num_panels; ++p) {
      for (int i = 0; i < (num_tokens + V::kTiles[0]) * V::kRows; i += V::kLanes) F32::Store(&acc[p][i], F32::Zero());
    }
    const int64_t num_blocks = args.num_cols / kQ8Block;
    const auto at = [&](int p, int64_t block) {
      const Panel start = PanelAt(args, panel + p);
      return Panel{start.codes + block * W::kCodeBytes, start.records + block / W::kRecordBlocks * W::kRecordBytes};
    };
    for (int64_t block = 0; block < num_blocks; block += kStretchBlocks) {
      const int64_t n = num_blocks - block < kStretchBlocks ? num_blocks - block : kStretchBlocks;
      GatherTokens(args, token, num_tokens, block, n, tokens);
      for (int p = 0; p < num_panels; ++p) {
        const Panel next = p + 1 < num_panels ? at(p + 1, block) : at(0, block + n);
        DecodeStretch(at(p, block), next, n / W::kRecordBlocks, stretch);
        const std::byte* x = tokens;
        ForTiles(num_tokens, [&](auto tile, int first) {
          DecodedTile<tile.value>(stretch, n, x, &acc[p][first * V::kRows]);
          x += n * TileTokens<V, Decoded, tile.value>::kBlockBytes;
        });
      }
    }
    for (int p = 0; p < num_panels; ++p) {
      StoreOutputs<F32, V::kVecs>(args, token, num_tokens, (panel + p) * V::kRows, acc[p]);
    }
  }

  [[gnu::noinline]] static void MultiplyGroup(const MatmulArgs& args, int64_t panel, int num_panels) {
    // Chunks of equal size, a multiple of the largest tile.
    const int64_t num_chunks = (args.num_tokens + kChunkTokens - 1) / kChunkTokens;
    const int64_t even = (args.num_tokens + num_chunks - 1) / num_chunks;
    const int64_t chunk = (even + V::kTiles[0] - 1) / V::kTiles[0] * V::kTiles[0];
    for (int64_t token = 0; token < args.num_tokens; token += chunk) {
      const int64_t rest = args.num_tokens - token;
      MultiplyChunk(args, panel, num_panels, token, static_cast<int>(rest < chunk ? rest : chunk));
    }
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_H_
