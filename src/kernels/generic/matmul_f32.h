#ifndef ADIT_KERNELS_GENERIC_MATMUL_F32_H_
#define ADIT_KERNELS_GENERIC_MATMUL_F32_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_store.h"
#include "kernels/generic/prefetch.h"
#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"
#include "tensor/dtype.h"

// The product of plain types with float activations. A panel is [num_cols][kRows] weights in the stored type, so that a
// vector is a column of rows, padded to a multiple of 64 bytes.
//
// Every output is one chain acc = fma(weight, activation, acc) in float32 over the columns in order, starting from 0,
// however many tokens there are. BF16 weights are widened too; but a set whose instructions take the products of two
// columns at once multiplies pairs of BF16 numbers, and activations are rounded to BF16. A panel is then
// [(num_cols + 1) / 2][kRows][2], with zeros after an odd column.
//
// Few tokens: weights stream from memory, bound by panel_bytes for each panel. More tokens: a stretch of columns at a
// time of a group of panels is multiplied with all tokens of a chunk while it is in the caches; bound by FMA: one for
// each vector of rows, column and token.
namespace adit::kernels::generic {

template <DType kType>
struct PlainType;
template <>
struct PlainType<DType::kF32> {
  using Stored = float;
};
template <>
struct PlainType<DType::kF16> {
  using Stored = uint16_t;
};
template <>
struct PlainType<DType::kBF16> {
  using Stored = uint16_t;
};

// Weights widened to float32.
template <class F32, DType kType>
struct WidenedProduct {
  using Stored = typename PlainType<kType>::Stored;
  static constexpr int kStepCols = 1;
  [[gnu::always_inline]] static F32 Load(const Stored* p) {
    if constexpr (kType == DType::kF32) return F32::LoadU(p);
    if constexpr (kType == DType::kF16) return F32::LoadF16(p);
    if constexpr (kType == DType::kBF16) return F32::LoadBF16(p);
  }
  [[gnu::always_inline]] static F32 Broadcast(float x) { return F32::Broadcast(x); }
  [[gnu::always_inline]] static F32 MultiplyAdd(F32 w, F32 a, F32 acc) { return F32::Fma(w, a, acc); }
  [[gnu::always_inline]] static void Arrange(const float* from, int64_t n, float* to) {
    __builtin_memcpy(to, from, static_cast<size_t>(n) * sizeof(float));
  }
};

// V: the vectors and the shape of register tiles:
//   F32              float vectors
//   kVecs            vectors of rows in a panel
//   kTiles           tokens of a tile, largest first, down to 1
//   kWholeTokens     tiles of more tokens than these take half a panel at a time, for want of registers
//   kDirectTokens    most tokens that are taken while weights stream, at most kWholeTokens
// P: what a vector of weights and the activation for all its lanes are, and how they are multiplied:
//   Stored           the weights of a row in one step over the columns
//   kStepCols        columns of a step
//   Load(p)          a vector of Stored
//   Broadcast(x)     from the float that holds the activations of a step
//   MultiplyAdd(w, a, acc)
//   Arrange(from, n, to)   n activations as floats for Broadcast
template <class V, class P>
class MatmulF32 {
 public:
  static constexpr int kRows = V::kVecs * V::F32::kLanes;

  [[gnu::always_inline]] static size_t PanelBytes(int64_t num_cols) {
    return static_cast<size_t>((Steps(num_cols) * kRowOfPanelBytes + 63) / 64 * 64);
  }

  [[gnu::always_inline]] static void Pack(const PackArgs& args, int64_t panel_begin, int64_t panel_end) {
    for (int64_t panel = panel_begin; panel < panel_end; ++panel) PackPanel(args, panel);
  }

  [[gnu::always_inline]] static void Multiply(const MatmulArgs& args, int64_t panel_begin, int64_t panel_end) {
    if (args.num_tokens <= V::kDirectTokens) {
      for (int64_t panel = panel_begin; panel < panel_end; ++panel) MultiplyDirect(args, panel);
      return;
    }
    for (int64_t panel = panel_begin; panel < panel_end; panel += kGroupPanels) {
      const int64_t rest = panel_end - panel;
      MultiplyGroup(args, panel, static_cast<int>(rest < kGroupPanels ? rest : kGroupPanels));
    }
  }

 protected:
  using F32 = typename V::F32;
  using Stored = typename P::Stored;
  static constexpr int kRowOfPanelBytes = kRows * static_cast<int>(sizeof(Stored));
  // 16 KB of weights, half the first-level cache; the activations of a chunk, 24 or 48 KB, come from the second.
  static constexpr int kStretchSteps = 16384 / kRowOfPanelBytes;
  static constexpr int kStretchCols = kStretchSteps * P::kStepCols;
  static constexpr int kChunkTokens = 48;
  static constexpr int kGroupPanels = 12;

  [[gnu::always_inline]] static int64_t Steps(int64_t num_cols) { return (num_cols + P::kStepCols - 1) / P::kStepCols; }

  static void PackPanel(const PackArgs& args, int64_t panel) {
    std::byte* out = args.panels + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    const int64_t first = panel * kRows;
    const int64_t rest = args.num_rows - first;
    const int rows = static_cast<int>(rest < kRows ? rest : kRows);
    const std::byte* from = args.rows + static_cast<size_t>(first) * args.row_bytes;
    const size_t row_bytes = static_cast<size_t>(args.num_cols) * (sizeof(Stored) / P::kStepCols);
    for (int64_t step = 0; step < Steps(args.num_cols); ++step) {
      const size_t at = static_cast<size_t>(step) * sizeof(Stored);
      const size_t rest_bytes = row_bytes - at;
      const size_t bytes = rest_bytes < sizeof(Stored) ? rest_bytes : sizeof(Stored);
      __builtin_memset(out, 0, kRowOfPanelBytes);
      for (int row = 0; row < rows; ++row) {
        __builtin_memcpy(out + row * sizeof(Stored), from + row * args.row_bytes + at, bytes);
      }
      out += kRowOfPanelBytes;
    }
  }

  [[gnu::always_inline]] static const Stored* PanelAt(const MatmulArgs& args, int64_t panel) {
    return reinterpret_cast<const Stored*>(args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols));
  }

  // acc[kTokens][kTileVecs] += num_steps steps of kTileVecs vectors of rows, times tokens `x_stride` floats apart.
  template <bool kStream, int kTokens, int kTileVecs>
  [[gnu::always_inline]] static void AddProducts(const Stored* weights, const float* x, int64_t x_stride,
                                                 int64_t num_steps, F32 (&acc)[kTokens][kTileVecs],
                                                 const Stored* next = nullptr) {
    for (int64_t step = 0; step < num_steps; ++step) {
      if constexpr (kStream) PrefetchStream<F32, kRowOfPanelBytes>(weights);
      if (!kStream && next != nullptr) {
        Prefetch(reinterpret_cast<const std::byte*>(next), kRowOfPanelBytes);
        next += kRows;
      }
      decltype(P::Load(weights)) w[kTileVecs];
      Unroll<kTileVecs>([&](auto v) ADIT_INLINE_LAMBDA { w[v.value] = P::Load(weights + v.value * F32::kLanes); });
      Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
        const auto a = P::Broadcast(x[t.value * x_stride + step]);
        Unroll<kTileVecs>([&](auto v) ADIT_INLINE_LAMBDA {
          acc[t.value][v.value] = P::MultiplyAdd(w[v.value], a, acc[t.value][v.value]);
        });
      });
      weights += kRows;
    }
  }

  // The same of `num_cols` columns from activations as the caller holds them, `stride` floats apart.
  template <int kTokens>
  [[gnu::always_inline]] static void AddStreamed(const Stored* weights, const float* x, int64_t stride,
                                                 int64_t num_cols, F32 (&acc)[kTokens][V::kVecs]) {
    if constexpr (P::kStepCols == 1) {
      AddProducts<true>(weights, x, stride, num_cols, acc);
      return;
    }
    alignas(64) float arranged[kTokens * kStretchSteps];
    for (int64_t col = 0; col < num_cols; col += kStretchCols) {
      const int64_t rest = num_cols - col;
      const int64_t n = rest < kStretchCols ? rest : kStretchCols;
      for (int t = 0; t < kTokens; ++t) P::Arrange(x + t * stride + col, n, arranged + t * kStretchSteps);
      AddProducts<true>(weights + col / P::kStepCols * kRows, arranged, kStretchSteps, Steps(n), acc);
    }
  }

  // body(Index<t>(), Index<v>(), where that sum is in [kTokens][kRows]).
  template <int kTokens, int kTileVecs, class Body>
  [[gnu::always_inline]] static void ForSums(Body&& body) {
    Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
      Unroll<kTileVecs>([&](auto v) ADIT_INLINE_LAMBDA {
        body(Index<t.value>(), Index<v.value>(), t.value * kRows + v.value * F32::kLanes);
      });
    });
  }

  template <int kTokens>
  [[gnu::noinline]] static void DirectTile(const MatmulArgs& args, int64_t panel, int64_t token) {
    F32 acc[kTokens][V::kVecs];
    ForSums<kTokens, V::kVecs>([&](auto t, auto v, int) ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Zero(); });
    const int64_t stride = args.activations.f32_stride;
    AddStreamed<kTokens>(PanelAt(args, panel), args.activations.f32 + token * stride, stride, args.num_cols, acc);
    alignas(64) float sums[kTokens * kRows];
    ForSums<kTokens, V::kVecs>([&](auto t, auto v, int at)
                                   ADIT_INLINE_LAMBDA { F32::Store(sums + at, acc[t.value][v.value]); });
    StoreOutputs<F32, V::kVecs>(args, token, kTokens, panel * kRows, sums);
  }

  static void MultiplyDirect(const MatmulArgs& args, int64_t panel) {
    Unroll<V::kDirectTokens>([&](auto i) ADIT_INLINE_LAMBDA {
      if (args.num_tokens == i.value + 1) DirectTile<i.value + 1>(args, panel, 0);
    });
  }

  // sums[kTokens][kRows] += a stretch of a panel times tokens kStretchSteps floats apart. As many weights from `next`
  // on are prefetched, where it is not null.
  template <int kTokens>
  [[gnu::noinline]] static void StretchTile(const Stored* weights, const Stored* next, const float* x,
                                            int64_t num_steps, float* sums) {
    constexpr int kTileVecs = kTokens <= V::kWholeTokens ? V::kVecs : V::kVecs / 2;
    for (int row = 0; row < kRows; row += kTileVecs * F32::kLanes) {
      F32 acc[kTokens][kTileVecs];
      ForSums<kTokens, kTileVecs>([&](auto t, auto v, int at)
                                      ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Load(sums + row + at); });
      AddProducts<false>(weights + row, x, kStretchSteps, num_steps, acc, row == 0 ? next : nullptr);
      ForSums<kTokens, kTileVecs>([&](auto t, auto v, int at)
                                      ADIT_INLINE_LAMBDA { F32::Store(sums + row + at, acc[t.value][v.value]); });
    }
  }

  // body(Index<tokens>(), token) for tiles of tokens that make up num_tokens, the largest first.
  template <class Body>
  [[gnu::always_inline]] static void ForTiles(int64_t num_tokens, Body&& body) {
    int64_t token = 0;
    Unroll<sizeof(V::kTiles) / sizeof(V::kTiles[0])>([&](auto i) ADIT_INLINE_LAMBDA {
      constexpr int kTile = V::kTiles[i.value];
      for (; num_tokens - token >= kTile; token += kTile) body(Index<kTile>(), token);
    });
  }

  static void MultiplyStretch(const Stored* weights, const Stored* next, const float* x, int64_t num_steps,
                              int64_t num_tokens, float* sums) {
    ForTiles(num_tokens, [&](auto tile, int64_t token) ADIT_INLINE_LAMBDA {
      StretchTile<tile.value>(weights, token == 0 ? next : nullptr, x + token * kStretchSteps, num_steps,
                              sums + token * kRows);
    });
  }

  // Outputs of num_panels <= kGroupPanels panels and num_tokens <= kChunkTokens tokens.
  static void MultiplyChunk(const MatmulArgs& args, int64_t panel, int num_panels, int64_t token, int64_t num_tokens) {
    alignas(64) float sums[kGroupPanels][kChunkTokens * kRows];
    alignas(64) float x[kChunkTokens * kStretchSteps];
    for (int p = 0; p < num_panels; ++p) {
      for (int64_t i = 0; i < num_tokens * kRows; i += F32::kLanes) F32::Store(&sums[p][i], F32::Zero());
    }
    const float* rows = args.activations.f32 + token * args.activations.f32_stride;
    for (int64_t col = 0; col < args.num_cols; col += kStretchCols) {
      const int64_t rest = args.num_cols - col;
      const int64_t n = rest < kStretchCols ? rest : kStretchCols;
      for (int64_t t = 0; t < num_tokens; ++t) {
        P::Arrange(rows + t * args.activations.f32_stride + col, n, x + t * kStretchSteps);
      }
      for (int p = 0; p < num_panels; ++p) {
        const Stored* next = p + 1 < num_panels ? PanelAt(args, panel + p + 1) + col / P::kStepCols * kRows
                                                : PanelAt(args, panel) + (col + n) / P::kStepCols * kRows;
        MultiplyStretch(PanelAt(args, panel + p) + col / P::kStepCols * kRows, next, x, Steps(n), num_tokens, sums[p]);
      }
    }
    for (int p = 0; p < num_panels; ++p) {
      StoreOutputs<F32, V::kVecs>(args, token, num_tokens, (panel + p) * kRows, sums[p]);
    }
  }

  [[gnu::noinline]] static void MultiplyGroup(const MatmulArgs& args, int64_t panel, int num_panels) {
    for (int64_t token = 0; token < args.num_tokens; token += kChunkTokens) {
      const int64_t rest = args.num_tokens - token;
      MultiplyChunk(args, panel, num_panels, token, rest < kChunkTokens ? rest : kChunkTokens);
    }
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_F32_H_
