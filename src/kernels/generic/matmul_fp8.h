#ifndef ADIT_KERNELS_GENERIC_MATMUL_FP8_H_
#define ADIT_KERNELS_GENERIC_MATMUL_FP8_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_f32.h"
#include "tensor/fp8.h"

// The product of FP8 blocks: numbers are widened in registers and multiplied as plain weights are (matmul_f32.h). A
// panel is, for each 32 columns, a scale of each row and [32 / kStepCols][kRows * kStepCols] numbers of E4M3: 9 bits a
// weight.
//
// Every output is one chain sum = fma(scale, block, sum) in float32 over the blocks of 32 columns in order, starting
// from 0, where `block` is what plain weights with the numbers of the block give, however many tokens there are.
//
// Few tokens: weights stream from memory and are widened as they come. More tokens: a stretch of columns of a panel is
// widened into the first-level cache and multiplied with all tokens of a chunk.
namespace adit::kernels::generic {

// Numbers become float32.
template <class V>
struct WidenedFp8 {
  using F32 = typename V::F32;
  using Product = WidenedProduct<F32, DType::kF32>;
  // F32::LoadE4M3 gives a 256th.
  static constexpr float kFactor = 256.0f;
  static constexpr int CodeAt(int row, int /*col*/) { return row; }
  [[gnu::always_inline]] static void Load(const uint8_t* codes, F32 (&weights)[V::kVecs]) {
    Unroll<V::kVecs>([&](auto v)
                         ADIT_INLINE_LAMBDA { weights[v.value] = F32::LoadE4M3(codes + v.value * F32::kLanes); });
  }
  [[gnu::always_inline]] static void Store(float* p, F32 weights) { F32::Store(p, weights); }
};

// V as for MatmulF32.
// W: how numbers are widened:
//   Product            P of MatmulF32
//   kFactor            what its weights have to be multiplied by
//   CodeAt(row, col)   where the number of a row of a panel and a column of a step lies among those of the step
//   Load(codes, weights)   all of a step, as Product::Load gives them
//   Store(p, weights)      one vector of them into memory
template <class V, class W = WidenedFp8<V>>
class MatmulFp8 : MatmulF32<V, typename W::Product> {
  using P = typename W::Product;
  using Base = MatmulF32<V, P>;
  using F32 = typename V::F32;
  using Stored = typename P::Stored;
  using Weights = decltype(P::Load(nullptr));
  static constexpr int kRows = Base::kRows;
  static constexpr int kBlockCols = 32;
  static constexpr int kBlockSteps = kBlockCols / P::kStepCols;
  static constexpr int kStepBytes = kRows * P::kStepCols;
  static constexpr int kScaleBytes = kRows * 4;
  static constexpr int kBlockBytes = kScaleBytes + kBlockSteps * kStepBytes;
  static_assert(Base::kStretchCols % kBlockCols == 0 && kBlockBytes % 64 == 0);

 public:
  [[gnu::always_inline]] static size_t PanelBytes(int64_t num_cols) {
    return static_cast<size_t>(num_cols / kBlockCols) * kBlockBytes;
  }

  [[gnu::always_inline]] static void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) {
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) PackPanel(args, panel);
  }

  [[gnu::always_inline]] static void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) {
    if (args.num_tokens <= V::kDirectTokens) {
      for (int64_t panel = panel_begin; panel < panel_end; ++panel) MultiplyDirect(args, panel);
      return;
    }
    for (int64_t panel = panel_begin; panel < panel_end; panel += Base::kGroupPanels) {
      const int64_t rest = panel_end - panel;
      MultiplyGroup(args, panel, static_cast<int>(rest < Base::kGroupPanels ? rest : Base::kGroupPanels));
    }
  }

 private:
  static void PackPanel(const PackArgs& args, int64_t panel) {
    std::byte* out = args.panels + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    __builtin_memset(out, 0, PanelBytes(args.num_cols));
    const int64_t first = panel * kRows;
    const int64_t rest = args.num_rows - first;
    const int rows = static_cast<int>(rest < kRows ? rest : kRows);
    for (int row = 0; row < rows; ++row) {
      const std::byte* from = args.rows + static_cast<size_t>(first + row) * args.row_bytes;
      for (int64_t b = 0; b < args.num_cols / kBlockCols; ++b, from += sizeof(BlockFp8)) {
        std::byte* block = out + static_cast<size_t>(b) * kBlockBytes;
        float scale;
        __builtin_memcpy(&scale, from, sizeof(scale));
        scale *= W::kFactor;
        __builtin_memcpy(block + row * 4, &scale, sizeof(scale));
        for (int col = 0; col < kBlockCols; ++col) {
          block[kScaleBytes + col / P::kStepCols * kStepBytes + W::CodeAt(row, col % P::kStepCols)] = from[4 + col];
        }
      }
    }
  }

  [[gnu::always_inline]] static const std::byte* BlockAt(const MatmulArgs& args, int64_t panel, int64_t block) {
    return args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols) +
           static_cast<size_t>(block) * kBlockBytes;
  }
  [[gnu::always_inline]] static F32 LoadScale(const std::byte* block, int row) {
    return F32::LoadU(reinterpret_cast<const float*>(block) + row);
  }
  // All weights of a step of a block.
  [[gnu::always_inline]] static void LoadStep(const std::byte* block, int step, Weights (&weights)[V::kVecs]) {
    W::Load(reinterpret_cast<const uint8_t*>(block) + kScaleBytes + step * kStepBytes, weights);
  }

  // sums += num_blocks blocks from `block` on times tokens `x_stride` floats apart, a float for each step.
  template <int kTokens>
  [[gnu::always_inline]] static void AddBlocks(const std::byte* block, int64_t num_blocks, const float* x,
                                               int64_t x_stride, F32 (&sums)[kTokens][V::kVecs]) {
    for (int64_t b = 0; b < num_blocks; ++b, block += kBlockBytes, x += kBlockSteps) {
      F32 acc[kTokens][V::kVecs];
      Base::template ForSums<kTokens, V::kVecs>([&](auto t, auto v, int)
                                                    ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Zero(); });
      for (int step = 0; step < kBlockSteps; ++step) {
        if (step * kStepBytes % 64 == 0) PrefetchStream<F32, 64>(block + kScaleBytes + step * kStepBytes);
        Weights w[V::kVecs];
        LoadStep(block, step, w);
        Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
          const auto a = P::Broadcast(x[t.value * x_stride + step]);
          Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
            acc[t.value][v.value] = P::MultiplyAdd(w[v.value], a, acc[t.value][v.value]);
          });
        });
      }
      Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
        const F32 scale = LoadScale(block, v.value * F32::kLanes);
        Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
          sums[t.value][v.value] = F32::Fma(scale, acc[t.value][v.value], sums[t.value][v.value]);
        });
      });
    }
  }

  // The same of all columns, from activations as the caller holds them.
  template <int kTokens>
  [[gnu::always_inline]] static void AddStreamed(const MatmulArgs& args, int64_t panel,
                                                 F32 (&sums)[kTokens][V::kVecs]) {
    const float* x = args.activations.f32;
    const int64_t stride = args.activations.f32_stride;
    const std::byte* block = BlockAt(args, panel, 0);
    if constexpr (P::kStepCols == 1) {
      AddBlocks(block, args.num_cols / kBlockCols, x, stride, sums);
      return;
    }
    alignas(64) float arranged[kTokens * Base::kStretchSteps];
    for (int64_t col = 0; col < args.num_cols; col += Base::kStretchCols) {
      const int64_t rest = args.num_cols - col;
      const int64_t n = rest < Base::kStretchCols ? rest : Base::kStretchCols;
      for (int t = 0; t < kTokens; ++t) P::Arrange(x + t * stride + col, n, arranged + t * Base::kStretchSteps);
      AddBlocks(block + col / kBlockCols * kBlockBytes, n / kBlockCols, arranged, Base::kStretchSteps, sums);
    }
  }

  template <int kTokens>
  [[gnu::noinline]] static void DirectTile(const MatmulArgs& args, int64_t panel) {
    F32 sums[kTokens][V::kVecs];
    Base::template ForSums<kTokens, V::kVecs>([&](auto t, auto v, int)
                                                  ADIT_INLINE_LAMBDA { sums[t.value][v.value] = F32::Zero(); });
    AddStreamed<kTokens>(args, panel, sums);
    alignas(64) float outputs[kTokens * kRows];
    Base::template ForSums<kTokens, V::kVecs>(
        [&](auto t, auto v, int at) ADIT_INLINE_LAMBDA { F32::Store(outputs + at, sums[t.value][v.value]); });
    StoreOutputs<F32, V::kVecs>(args, 0, kTokens, panel * kRows, outputs);
  }

  static void MultiplyDirect(const MatmulArgs& args, int64_t panel) {
    Unroll<V::kDirectTokens>([&](auto i) ADIT_INLINE_LAMBDA {
      if (args.num_tokens == i.value + 1) DirectTile<i.value + 1>(args, panel);
    });
  }

  // num_blocks blocks of a panel as MatmulF32 holds weights. As many from `next` on are prefetched, a line at a time:
  // of many together the processor drops most.
  [[gnu::noinline]] static void Widen(const std::byte* block, const std::byte* next, int64_t num_blocks, Stored* out) {
    constexpr int kLines = kBlockBytes / 64;
    for (int64_t b = 0; b < num_blocks; ++b, block += kBlockBytes, next += kBlockBytes) {
      for (int step = 0; step < kBlockSteps; ++step, out += kRows) {
        for (int line = step * kLines / kBlockSteps; line < (step + 1) * kLines / kBlockSteps; ++line) {
          Prefetch(next + line * 64, 64);
        }
        Weights w[V::kVecs];
        LoadStep(block, step, w);
        Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA { W::Store(out + v.value * F32::kLanes, w[v.value]); });
      }
    }
  }

  // sums[kTokens][kRows] += scales times a widened block times tokens kStretchSteps floats apart.
  template <int kTokens>
  [[gnu::noinline]] static void BlockTile(const std::byte* block, const Stored* weights, const float* x, float* sums) {
    constexpr int kTileVecs = kTokens <= V::kWholeTokens ? V::kVecs : V::kVecs / 2;
    for (int row = 0; row < kRows; row += kTileVecs * F32::kLanes) {
      F32 acc[kTokens][kTileVecs];
      Base::template ForSums<kTokens, kTileVecs>([&](auto t, auto v, int)
                                                     ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Zero(); });
      Base::template AddProducts<false>(weights + row, x, Base::kStretchSteps, kBlockSteps, acc);
      Unroll<kTileVecs>([&](auto v) ADIT_INLINE_LAMBDA {
        const F32 scale = LoadScale(block, row + v.value * F32::kLanes);
        Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
          float* sum = sums + t.value * kRows + row + v.value * F32::kLanes;
          F32::Store(sum, F32::Fma(scale, acc[t.value][v.value], F32::Load(sum)));
        });
      });
    }
  }

  static void MultiplyBlock(const std::byte* block, const Stored* weights, const float* x, int64_t num_tokens,
                            float* sums) {
    Base::ForTiles(num_tokens, [&](auto tile, int64_t token) ADIT_INLINE_LAMBDA {
      BlockTile<tile.value>(block, weights, x + token * Base::kStretchSteps, sums + token * kRows);
    });
  }

  // Outputs of num_panels panels and num_tokens <= kChunkTokens tokens.
  static void MultiplyChunk(const MatmulArgs& args, int64_t panel, int num_panels, int64_t token, int64_t num_tokens) {
    alignas(64) float sums[Base::kGroupPanels][Base::kChunkTokens * kRows];
    alignas(64) float x[Base::kChunkTokens * Base::kStretchSteps];
    alignas(64) Stored widened[Base::kStretchSteps * kRows];
    for (int p = 0; p < num_panels; ++p) {
      for (int64_t i = 0; i < num_tokens * kRows; i += F32::kLanes) F32::Store(&sums[p][i], F32::Zero());
    }
    const float* rows = args.activations.f32 + token * args.activations.f32_stride;
    for (int64_t col = 0; col < args.num_cols; col += Base::kStretchCols) {
      const int64_t rest = args.num_cols - col;
      const int64_t n = rest < Base::kStretchCols ? rest : Base::kStretchCols;
      for (int64_t t = 0; t < num_tokens; ++t) {
        P::Arrange(rows + t * args.activations.f32_stride + col, n, x + t * Base::kStretchSteps);
      }
      for (int p = 0; p < num_panels; ++p) {
        const std::byte* block = BlockAt(args, panel + p, col / kBlockCols);
        const std::byte* next = p + 1 < num_panels ? BlockAt(args, panel + p + 1, col / kBlockCols)
                                                   : BlockAt(args, panel, (col + n) / kBlockCols);
        Widen(block, next, n / kBlockCols, widened);
        for (int64_t b = 0; b < n / kBlockCols; ++b) {
          MultiplyBlock(block + b * kBlockBytes, widened + b * kBlockSteps * kRows, x + b * kBlockSteps, num_tokens,
                        sums[p]);
        }
      }
    }
    for (int p = 0; p < num_panels; ++p) {
      StoreOutputs<F32, V::kVecs>(args, token, num_tokens, (panel + p) * kRows, sums[p]);
    }
  }

  [[gnu::noinline]] static void MultiplyGroup(const MatmulArgs& args, int64_t panel, int num_panels) {
    for (int64_t token = 0; token < args.num_tokens; token += Base::kChunkTokens) {
      const int64_t rest = args.num_tokens - token;
      MultiplyChunk(args, panel, num_panels, token, rest < Base::kChunkTokens ? rest : Base::kChunkTokens);
    }
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_FP8_H_
