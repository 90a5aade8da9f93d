#ifndef ADIT_KERNELS_GENERIC_MATMUL_Q8_LOOKED_UP_H_
#define ADIT_KERNELS_GENERIC_MATMUL_Q8_LOOKED_UP_H_

#include <cstddef>
#include <cstdint>

#include "kernels/generic/matmul_panel.h"
#include "kernels/generic/matmul_q8_decoded.h"
#include "kernels/generic/matmul_q8_tokens.h"
#include "kernels/generic/prefetch.h"
#include "kernels/generic/unroll.h"

// The product of a few tokens with codes that are looked up (generic/matmul_codec_grid.h): what has been looked up is
// multiplied from registers. Integer sums are exact, and what follows them is the sequence of operations that
// generic/matmul_q8_tile.h describes, so that outputs are those of many tokens.
namespace adit::kernels::generic {

// Up to so many tokens, looking up and multiplying at once is faster than by way of the cache (measured on Zen 3).
inline constexpr int64_t kMaxLookedUpTokens = 4;

// Scales the sum of sub-block kSub of one token and one vector of rows, and adds it to acc[kLanes]. min: of each
// sub-block, read where the type has minima.
template <class V, class W, int kSub>
[[gnu::always_inline]] inline void AddLookedUpSum(const typename W::LookDot& sum, const RowTokens<V, W>& x, int t,
                                                  typename V::F32 scale, const typename V::F32* min, float* acc) {
  using F32 = typename V::F32;
  typename V::Ints total;
  if constexpr (W::kLookHasOffset && !V::kOffsetFirst) {
    total = sum.TotalPlus(x.template MinusOffset<kSub>(t));
  } else {
    total = sum.Total();
  }
  F32 term = F32::Mul(scale, V::ToFloat(total));
  if constexpr (W::kHasMin) term = F32::Fma(min[kSub], x.template Sum<kSub>(t), term);
  F32::Store(acc, F32::Fma(x.Scale(t), term, F32::Load(acc)));
}

// acc[kTokens][kRows] += the product of vector v of 32 columns, number `block` of a record, with tokens of x.
template <class V, class W, int kTokens>
[[gnu::always_inline]] inline void AddLookedUpVector(const std::byte* codes, const std::byte* record, int block, int v,
                                                     const typename W::Group* index, const RowTokens<V, W>& x,
                                                     float* acc) {
  constexpr int kSteps = 8 / W::kSubBlocks;
  typename V::F32 scale[W::kSubBlocks];
  typename V::F32 min[W::kSubBlocks];
  W::LoadScales(codes, record, block, v, scale, min);
  typename W::LookDot dot[kTokens];
  W::ForQuads(codes, v, index, [&](auto quad, auto weight) ADIT_INLINE_LAMBDA {
    constexpr int kSub = quad.value / kSteps;
    constexpr int kStep = quad.value % kSteps;
    Unroll<kTokens>([&](auto t) ADIT_INLINE_LAMBDA {
      if constexpr (kStep == 0 && V::kOffsetFirst && W::kLookHasOffset) {
        dot[t.value].Start(x.template MinusOffset<kSub>(t.value));
      } else if constexpr (kStep == 0) {
        dot[t.value].Start();
      }
      dot[t.value].template Add<kStep, kSteps>(weight, x.template Quad<quad.value>(t.value));
      if constexpr (kStep == kSteps - 1) {
        AddLookedUpSum<V, W, kSub>(dot[t.value], x, t.value, scale[kSub], min,
                                   acc + t.value * V::kRows + v * V::kLanes);
      }
    });
  });
}

// acc[kTokens][kRows] += num_records records of a panel times kTokens tokens.
template <class V, class W, int kTokens>
[[gnu::always_inline]] inline void AddLookedUpTile(const std::byte* units, int64_t num_records, RowTokens<V, W> x,
                                                   float* acc) {
  // The indices of a whole record are put together first: looked up right after they are stored, they would be waited
  // for.
  alignas(64) typename W::Group index[W::kRecordBlocks][V::kVecs][W::kNumGroups + 1];
  for (int64_t i = 0; i < num_records; ++i) {
    const std::byte* record = Panel<V, W>::Record(units, i * W::kRecordBlocks);
    const std::byte* codes = Panel<V, W>::Codes(units, i * W::kRecordBlocks);
    PrefetchStream<typename V::F32, W::kRecordBytes>(record);
    Prefetch(record, W::kRecordBytes);
    for (int block = 0; block < W::kRecordBlocks; ++block) {
      for (int v = 0; v < V::kVecs; ++v) W::MakeIndices(codes + block * W::kCodeBytes, v, index[block][v]);
    }
    for (int block = 0; block < W::kRecordBlocks; ++block) {
      PrefetchStream<typename V::F32, W::kCodeBytes>(codes);
      for (int v = 0; v < V::kVecs; ++v) {
        AddLookedUpVector<V, W, kTokens>(codes, record, block, v, index[block][v], x, acc);
      }
      codes += W::kCodeBytes;
      x.Next();
    }
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_MATMUL_Q8_LOOKED_UP_H_
