#ifndef ADIT_KERNELS_GENERIC_MATMUL_F32_H_
#define ADIT_KERNELS_GENERIC_MATMUL_F32_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_store.h"
#include "kernels/generic/unroll.h"
#include "kernels/matmul.h"
#include "tensor/dtype.h"

// The product of plain types with float activations. A panel is [num_cols][kRows] weights in the stored type, so that a
// vector is a column of rows, padded to a multiple of 64 bytes.
//
// Every output is one chain acc = fma(weight, activation, acc) in float32 over the columns in order, starting from 0,
// however many tokens there are. BF16 weights are widened too, not multiplied by dot-product instructions: these round
// differently, and on some processors with AVX-512 BF16 they have half the throughput of float32 FMA.
//
// Few tokens: weights stream from memory, bound by panel_bytes for each panel. Many tokens: of a group of panels and a
// chunk of tokens, a stretch of columns at a time is widened into the first-level cache; bound by FMA: one for each
// vector of rows, column and token.
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

// V: the vectors and the shape of register tiles:
//   F32                        float vectors
//   kVecs                      vectors of rows in a panel
//   kDirectTiles, kTiles       tokens of a register tile, largest first, each list down to 1
template <class V, DType kType>
class MatmulF32 {
 public:
  static constexpr int kRows = V::kVecs * V::F32::kLanes;

  [[gnu::always_inline]] static size_t PanelBytes(int64_t num_cols) {
    return static_cast<size_t>((num_cols * kRowOfPanelBytes + 63) / 64 * 64);
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
  using Stored = typename PlainType<kType>::Stored;
  static constexpr int kRowOfPanelBytes = kRows * static_cast<int>(sizeof(Stored));
  static constexpr int kAhead = 4096;
  static constexpr int64_t kMaxDirectTokens = 2 * V::kDirectTiles[0];
  // A chunk's activations of a stretch, 12 KB, and the widened weights, 8 KB, share the first-level cache with the
  // sums.
  static constexpr int kChunkTokens = 48;
  static constexpr int kStretchCols = 64;
  static constexpr int kGroupPanels = 8;

  [[gnu::always_inline]] static F32 Widen(const Stored* p) {
    if constexpr (kType == DType::kF32) return F32::LoadU(p);
    if constexpr (kType == DType::kF16) return F32::LoadF16(p);
    if constexpr (kType == DType::kBF16) return F32::LoadBF16(p);
  }

  static void PackPanel(const PackArgs& args, int64_t panel) {
    std::byte* out = args.panels + static_cast<size_t>(panel) * PanelBytes(args.num_cols);
    const int64_t first = panel * kRows;
    const int64_t rest = args.num_rows - first;
    const int rows = static_cast<int>(rest < kRows ? rest : kRows);
    const std::byte* from = args.rows + static_cast<size_t>(first) * args.row_bytes;
    for (int64_t col = 0; col < args.num_cols; ++col) {
      for (int row = 0; row < rows; ++row) {
        __builtin_memcpy(out + row * sizeof(Stored), from + row * args.row_bytes + col * sizeof(Stored),
                         sizeof(Stored));
      }
      __builtin_memset(out + rows * sizeof(Stored), 0, (kRows - rows) * sizeof(Stored));
      out += kRowOfPanelBytes;
    }
  }

  static const Stored* PanelAt(const MatmulArgs& args, int64_t panel) {
    return reinterpret_cast<const Stored*>(args.weights + static_cast<size_t>(panel) * PanelBytes(args.num_cols));
  }

  // acc[kTokens][kVecs] += num_cols columns at `weights`, read by `load`, times tokens `x_stride` floats apart.
  template <int kTokens, int kPrefetch, class T, class Load>
  [[gnu::always_inline]] static void AddTile(const T* weights, const float* x, int64_t x_stride, int64_t num_cols,
                                             Load load, F32 (&acc)[kTokens][V::kVecs]) {
    for (int64_t col = 0; col < num_cols; ++col) {
      if constexpr (kPrefetch != 0) {
        for (int byte = 0; byte < kRowOfPanelBytes; byte += 64) {
          __builtin_prefetch(reinterpret_cast<const std::byte*>(weights) + kPrefetch + byte);
        }
      }
      F32 w[V::kVecs];
      Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA { w[v.value] = load(weights + v.value * F32::kLanes); });
      Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
        const F32 a = F32::Broadcast(x[t.value * x_stride + col]);
        Unroll<V::kVecs>(
            [&](auto v) ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Fma(w[v.value], a, acc[t.value][v.value]); });
      });
      weights += kRows;
    }
  }

  template <int kTokens, class Body>
  [[gnu::always_inline]] static void ForSums(Body&& body) {
    Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
      Unroll<V::kVecs>([&](auto v) ADIT_INLINE_LAMBDA {
        body(Index<t.value>(), Index<v.value>(), t.value * kRows + v.value * F32::kLanes);
      });
    });
  }

  template <int kTokens>
  [[gnu::noinline]] static void DirectTile(const MatmulArgs& args, int64_t panel, int64_t token) {
    F32 acc[kTokens][V::kVecs];
    ForSums<kTokens>([&](auto t, auto v, int) ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Zero(); });
    const ActivationView& x = args.activations;
    AddTile<kTokens, kAhead>(PanelAt(args, panel), x.f32 + token * x.f32_stride, x.f32_stride, args.num_cols, Widen,
                             acc);
    alignas(64) float sums[kTokens * kRows];
    ForSums<kTokens>([&](auto t, auto v, int at) ADIT_INLINE_LAMBDA { F32::Store(sums + at, acc[t.value][v.value]); });
    StoreOutputs<F32, V::kVecs>(args, token, kTokens, panel * kRows, sums);
  }

  // Calls body(Index<tile>(), first token), tiles being of the list, the largest that fit first.
  template <class Body>
  [[gnu::always_inline]] static void ForTiles(int64_t num_tokens, Body&& body) {
    int64_t token = 0;
    Unroll<sizeof(V::kTiles) / sizeof(V::kTiles[0])>([&](auto i) ADIT_INLINE_LAMBDA {
      constexpr int kTile = V::kTiles[i.value];
      for (; num_tokens - token >= kTile; token += kTile) body(Index<kTile>(), token);
    });
  }

  static void MultiplyDirect(const MatmulArgs& args, int64_t panel) {
    int64_t token = 0;
    Unroll<sizeof(V::kDirectTiles) / sizeof(V::kDirectTiles[0])>([&](auto i) ADIT_INLINE_LAMBDA {
      constexpr int kTile = V::kDirectTiles[i.value];
      for (; args.num_tokens - token >= kTile; token += kTile) DirectTile<kTile>(args, panel, token);
    });
  }

  // sums[kTokens][kRows] += a stretch of widened weights times tokens kStretchCols floats apart.
  template <int kTokens>
  [[gnu::noinline]] static void StretchTile(const float* weights, const float* x, int64_t num_cols, float* sums) {
    F32 acc[kTokens][V::kVecs];
    ForSums<kTokens>([&](auto t, auto v, int at) ADIT_INLINE_LAMBDA { acc[t.value][v.value] = F32::Load(sums + at); });
    AddTile<kTokens, 0>(weights, x, kStretchCols, num_cols, F32::LoadU, acc);
    ForSums<kTokens>([&](auto t, auto v, int at) ADIT_INLINE_LAMBDA { F32::Store(sums + at, acc[t.value][v.value]); });
  }

  // `num_cols` columns of a panel as floats: widened into `buffer`, or where they are.
  static const float* WidenStretch(const Stored* from, int64_t num_cols, float* buffer) {
    if constexpr (kType == DType::kF32) return from;
    for (int64_t i = 0; i < num_cols * kRows; i += F32::kLanes) F32::Store(buffer + i, Widen(from + i));
    return buffer;
  }

  static void MultiplyChunk(const MatmulArgs& args, int64_t panel, int num_panels, int64_t token, int64_t num_tokens) {
    alignas(64) float sums[kGroupPanels][kChunkTokens * kRows];
    alignas(64) float weights[kStretchCols * kRows];
    alignas(64) float x[kChunkTokens * kStretchCols];
    for (int p = 0; p < num_panels; ++p) {
      for (int64_t i = 0; i < num_tokens * kRows; i += F32::kLanes) F32::Store(&sums[p][i], F32::Zero());
    }
    const float* rows = args.activations.f32 + token * args.activations.f32_stride;
    for (int64_t col = 0; col < args.num_cols; col += kStretchCols) {
      const int64_t rest = args.num_cols - col;
      const int64_t n = rest < kStretchCols ? rest : kStretchCols;
      for (int64_t t = 0; t < num_tokens; ++t) {
        __builtin_memcpy(x + t * kStretchCols, rows + t * args.activations.f32_stride + col,
                         static_cast<size_t>(n) * 4);
      }
      for (int p = 0; p < num_panels; ++p) {
        const float* w = WidenStretch(PanelAt(args, panel + p) + col * kRows, n, weights);
        ForTiles(num_tokens, [&](auto tile, int64_t first) {
          StretchTile<tile.value>(w, x + first * kStretchCols, n, &sums[p][first * kRows]);
        });
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
