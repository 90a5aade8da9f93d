#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_TILE_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_TILE_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_panel.h"
#include "kernels/generic/prefetch.h"
#include "kernels/generic/unroll.h"

// The register tile of the product of block types with Q8 activations: kVecs vectors of output rows by kTokens tokens.
//
// Every output is this sequence of operations and no other, wherever weights and activations are read from:
//   for each 32 columns, for each sub-block of them (one, or two of 16):
//     dot = sum of code * activation code, minus offset * sum of activation codes     (integers, exact)
//     term = scale * float(dot), and with minima  term = fma(min, float(sum of activation codes), term)
//     acc = fma(activation scale, term, acc)
// and, where activations have second terms, after each kStretchBlocks blocks of 32 columns the same for those of their
// blocks that have second terms.
//
// Bound by operations, for each vector of rows, token and 32 columns, AVX2: 8 vpmaddubsw, 7 vpaddw, vpmaddwd, and
// vpaddd, vcvtdq2ps, vmulps, vfmadd: 20 operations of which 9 can only use two ports of Zen 3. AVX-512: 8 vpdpbusd,
// vcvtdq2ps, vmulps, vfmadd: 11 for the two ports of Intel's cores, 10 for two of Zen 5, which converts on others; with
// a minimum one more.
namespace adit::kernels::generic {

// Integer sums of one sub-block: dot[kTokens][kVecs].
template <class V, class W, int kSub, class Tokens, int kTokens>
[[gnu::always_inline]] inline void AddProducts(const std::byte* codes, const Tokens& x,
                                               typename W::Dot (&dot)[kTokens][V::kVecs]) {
  constexpr int kSteps = 8 / W::kSubBlocks;
  Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
    if constexpr (V::kOffsetFirst && W::kOffsetBits != 0) {
      const auto minus_offset = x.template MinusOffset<kSub>(t.value);
      for (int v = 0; v < V::kVecs; ++v) dot[t.value][v].Start(minus_offset);
    } else {
      for (int v = 0; v < V::kVecs; ++v) dot[t.value][v].Start();
    }
  });
  Unroll<kSteps>([&](auto step) ADIT_INLINE_LAMBDA {
    constexpr int g = W::kOrder[kSub * kSteps + step.value];
    typename W::Dot::Weight w[V::kVecs];
    for (int v = 0; v < V::kVecs; ++v) w[v] = W::Dot::Prepare(W::template Codes<g>(codes, v));
    Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
      const typename V::Bytes quad = x.template Quad<g>(t.value);
      for (int v = 0; v < V::kVecs; ++v) dot[t.value][v].template Add<step.value, kSteps>(w[v], quad);
    });
  });
}

// Scales the sums of sub-block kSub of the 32 columns that are number `block` of their record and adds them to
// acc[kTokens][kRows].
template <class V, class W, int kSub, class Tokens, int kTokens>
[[gnu::always_inline]] inline void AddScaled(const typename W::Record& r, const std::byte* record, int block,
                                             const Tokens& x, const typename W::Dot (&dot)[kTokens][V::kVecs],
                                             float* acc) {
  using F32 = typename V::F32;
  const int sub_block = block * W::kSubBlocks + kSub;
  F32 scale[V::kVecs];
  F32 min[V::kVecs];
  for (int v = 0; v < V::kVecs; ++v) {
    scale[v] = W::Scale(r, record, sub_block, v);
    if constexpr (W::kHasMin) min[v] = W::Min(r, record, sub_block, v);
  }
  Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
    for (int v = 0; v < V::kVecs; ++v) {
      const auto& sum = dot[t.value][v];
      typename V::Ints total;
      if constexpr (W::kOffsetBits != 0 && !V::kOffsetFirst) {
        total = sum.TotalPlus(x.template MinusOffset<kSub>(t.value));
      } else {
        total = sum.Total();
      }
      F32 term = F32::Mul(scale[v], V::ToFloat(total));
      if constexpr (W::kHasMin) term = F32::Fma(min[v], x.template Sum<kSub>(t.value), term);
      float* to = acc + x.Row(t.value) * V::kRows + v * V::kLanes;
      F32::Store(to, F32::Fma(x.Scale(t.value), term, F32::Load(to)));
    }
  });
}

// acc[x.Row(t)][kRows] += the product of 32 columns, number `block` of a record, with tokens t of x.
template <class V, class W, int kTokens, class Tokens>
[[gnu::always_inline]] inline void AddBlock(const std::byte* codes, const typename W::Record& record,
                                            const std::byte* records, int block, const Tokens& x, float* acc) {
  Unroll<W::kSubBlocks>([&](auto sub) ADIT_INLINE_LAMBDA {
    typename W::Dot dot[kTokens][V::kVecs];
    AddProducts<V, W, sub.value>(codes, x, dot);
    AddScaled<V, W, sub.value>(record, records, block, x, dot, acc);
  });
}

// The same of num_records whole records, from the start of a unit on. kStream: the weights come from memory.
template <class V, class W, int kTokens, bool kStream, class Tokens>
[[gnu::always_inline]] inline void AddTile(const std::byte* units, int64_t num_records, Tokens x, float* acc) {
  for (int64_t i = 0; i < num_records; ++i) {
    const std::byte* records = Panel<V, W>::Record(units, i * W::kRecordBlocks);
    const std::byte* codes = Panel<V, W>::Codes(units, i * W::kRecordBlocks);
    if constexpr (kStream) {
      PrefetchStream<typename V::F32, W::kRecordBytes>(records);
      // Read bit by bit between codes, a long record would break the stream that the hardware sees.
      if constexpr (W::kRecordBlocks > 1) Prefetch(records, W::kRecordBytes);
    }
    const auto record = W::LoadRecord(records);
    for (int block = 0; block < W::kRecordBlocks; ++block) {
      if constexpr (kStream) PrefetchStream<typename V::F32, W::kCodeBytes>(codes);
      AddBlock<V, W, kTokens>(codes, record, records, block, x, acc);
      codes += W::kCodeBytes;
      x.Next();
    }
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_TILE_H_
