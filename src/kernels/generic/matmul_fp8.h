#ifndef ADIT_KERNELS_GENERIC_MATMUL_FP8_H_
#define ADIT_KERNELS_GENERIC_MATMUL_FP8_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_f32.h"
#include "tensor/fp8.h"

// The product of FP8 blocks with float activations: weights are widened in registers. A panel is, for each 32 columns,
// a scale of each row and [32][kRows] numbers of E4M3: 9 bits a weight.
//
// Every output is one chain acc = fma(scale * number, activation, acc) in float32 over the columns in order, starting
// from 0, however many tokens there are; scale * number is rounded once.
//
// Few tokens: weights stream from memory and are widened as they come. More tokens: a stretch of columns of a panel is
// widened into the first-level cache and multiplied with all tokens of a chunk as float32 weights are.
namespace adit::kernels::generic {

// V as for MatmulF32; F32::LoadE4M3 gives numbers over 256, which the scales of a panel make up for.
template <class V>
class MatmulFp8 : MatmulF32<V, WidenedProduct<typename V::F32, DType::kF32>> {
  using Base = MatmulF32<V, WidenedProduct<typename V::F32, DType::kF32>>;
  using F32 = typename V::F32;
  static constexpr int kRows = Base::kRows;
  static constexpr int kBlockCols = 32;
  static constexpr int kScaleBytes = kRows * 4;
  static constexpr int kBlockBytes = kScaleBytes + kBlockCols * kRows;
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
        scale *= 256.0f;
        __builtin_memcpy(block + row * 4, &scale, sizeof(scale));
        for (int col = 0; col < kBlockCols; ++col) block[kScaleBytes + col * kRows + row] = from[4 + col];
      }
    }
  }

  [[gnu::always_inline]] static const std::byte* BlockAt(const MatmulArgs& args, int64_t panel, int64_t block) {
    return args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols) +
           static_cast<size_t>(block) * kBlockBytes;
  }

  // Vector v of the weights of a column of a block.
  [[gnu::always_inline]] static F32 LoadWeights(const std::byte* block, int col, int v, F32 scale) {
    const auto* codes = reinterpret_cast<const uint8_t*>(block) + kScaleBytes + col * kRows + v * F32::kLanes;
    return F32::Mul(scale, F32::LoadE4M3(codes));
  }
  [[gnu::always_inline]] static F32 LoadScale(const std::byte* block, int v) {
    return F32::LoadU(reinterpret_cast<const float*>(block) + v * F32::kLanes);
  }

  template <int kTokens>
  [[gnu::noinline]] static void DirectTile(const MatmulArgs& args, int64_t panel) {
    F32 acc[kTokens][V::kVecs];
    Base::template ForSums<kTokens, V::kVecs>([&](auto t, auto v, int)
                                                  ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Zero(); });
    const std::byte* block = BlockAt(args, panel, 0);
    for (int64_t begin = 0; begin < args.num_cols; begin += kBlockCols, block += kBlockBytes) {
      F32 scale[V::kVecs];
      Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA { scale[v.value] = LoadScale(block, v.value); });
      const float* x = args.activations.f32 + begin;
      for (int col = 0; col < kBlockCols; ++col) {
        if (col * kRows % 64 == 0) PrefetchStream<F32, 64>(block + kScaleBytes + col * kRows);
        Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
          const F32 w = LoadWeights(block, col, v.value, scale[v.value]);
          Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
            const F32 a = F32::Broadcast(x[t.value * args.activations.f32_stride + col]);
            acc[t.value][v.value] = F32::Fma(w, a, acc[t.value][v.value]);
          });
        });
      }
    }
    alignas(64) float sums[kTokens * kRows];
    Base::template ForSums<kTokens, V::kVecs>([&](auto t, auto v, int at)
                                                  ADIT_INLINE_LAMBDA { F32::Store(sums + at, acc[t.value][v.value]); });
    StoreOutputs<F32, V::kVecs>(args, 0, kTokens, panel * kRows, sums);
  }

  static void MultiplyDirect(const MatmulArgs& args, int64_t panel) {
    Unroll<V::kDirectTokens>([&](auto i) ADIT_INLINE_LAMBDA {
      if (args.num_tokens == i.value + 1) DirectTile<i.value + 1>(args, panel);
    });
  }

  // num_blocks blocks of a panel as [columns][kRows] floats.
  [[gnu::noinline]] static void Widen(const std::byte* block, int64_t num_blocks, float* out) {
    for (int64_t b = 0; b < num_blocks; ++b, block += kBlockBytes) {
      Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
        const F32 scale = LoadScale(block, v.value);
        float* to = out + b * kBlockCols * kRows + v.value * F32::kLanes;
        for (int col = 0; col < kBlockCols; ++col)
          F32::Store(to + col * kRows, LoadWeights(block, col, v.value, scale));
      });
    }
  }

  // Outputs of num_panels panels and num_tokens <= kChunkTokens tokens.
  static void MultiplyChunk(const MatmulArgs& args, int64_t panel, int num_panels, int64_t token, int64_t num_tokens) {
    alignas(64) float sums[Base::kGroupPanels][Base::kChunkTokens * kRows];
    alignas(64) float x[Base::kChunkTokens * Base::kStretchSteps];
    alignas(64) float widened[Base::kStretchCols * kRows];
    for (int p = 0; p < num_panels; ++p) {
      for (int64_t i = 0; i < num_tokens * kRows; i += F32::kLanes) F32::Store(&sums[p][i], F32::Zero());
    }
    const float* rows = args.activations.f32 + token * args.activations.f32_stride;
    for (int64_t col = 0; col < args.num_cols; col += Base::kStretchCols) {
      const int64_t rest = args.num_cols - col;
      const int64_t n = rest < Base::kStretchCols ? rest : Base::kStretchCols;
      for (int64_t t = 0; t < num_tokens; ++t) {
        __builtin_memcpy(x + t * Base::kStretchSteps, rows + t * args.activations.f32_stride + col,
                         static_cast<size_t>(n) * sizeof(float));
      }
      for (int p = 0; p < num_panels; ++p) {
        Widen(BlockAt(args, panel + p, col / kBlockCols), n / kBlockCols, widened);
        Base::MultiplyStretch(widened, nullptr, x, n, num_tokens, sums[p]);
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
