#ifndef ADIT_KERNELS_GENERIC_ELEMENTWISE_H_
#define ADIT_KERNELS_GENERIC_ELEMENTWISE_H_

#include "kernels/elementwise.h"
#include "kernels/generic/activations.h"
#include "kernels/generic/softcap.h"

// Norms, rotary embedding and activations over vectors of V. Rows are short and come from the caches; all are bound by
// loads and stores, and the activations by their exponentials.
namespace adit::kernels::generic {

// Sum of squares. Vector i of x goes to accumulator i % 4, which hides the latency of the FMA; accumulators are added
// as (0 + 1) + (2 + 3), then lanes as V::ReduceAdd says. So the order depends on dim alone.
template <typename V>
[[gnu::always_inline]] inline float SumOfSquares(const float* x, int64_t dim) {
  constexpr int64_t kLanes = V::kLanes;
  V sums[4] = {V::Zero(), V::Zero(), V::Zero(), V::Zero()};
  int64_t i = 0;
  for (; i + 4 * kLanes <= dim; i += 4 * kLanes) {
    for (int j = 0; j < 4; ++j) {
      const V a = V::LoadU(x + i + j * kLanes);
      sums[j] = V::Fma(a, a, sums[j]);
    }
  }
  for (int j = 0; i < dim; ++j, i += kLanes) {
    const V a = V::LoadPartial(x + i, dim - i < kLanes ? dim - i : kLanes);
    sums[j] = V::Fma(a, a, sums[j]);
  }
  return V::ReduceAdd(V::Add(V::Add(sums[0], sums[1]), V::Add(sums[2], sums[3])));
}

// Bytes: x twice (the second time from the first-level cache), weight and out once. Operations: 4 an element.
template <typename V>
inline void RmsNorm(const RmsNormArgs& args) noexcept {
  constexpr int64_t kLanes = V::kLanes;
  for (int64_t row = 0; row < args.num_rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* out = args.out + row * args.out_stride;
    const float mean = SumOfSquares<V>(x, args.dim) / static_cast<float>(args.dim);
    const V inverse_rms = V::Div(V::Broadcast(1.0f), V::Sqrt(V::Broadcast(mean + args.eps)));
    int64_t i = 0;
    for (; i + kLanes <= args.dim; i += kLanes) {
      V::StoreU(out + i, V::Mul(V::Mul(V::LoadU(x + i), inverse_rms), V::LoadU(args.weight + i)));
    }
    if (const int64_t n = args.dim - i; n > 0) {
      const V scaled = V::Mul(V::LoadPartial(x + i, n), inverse_rms);
      V::StorePartial(out + i, V::Mul(scaled, V::LoadPartial(args.weight + i, n)), n);
    }
  }
}

// Sum of x; accumulators and lanes as in SumOfSquares.
template <typename V>
[[gnu::always_inline]] inline float Sum(const float* x, int64_t dim) {
  constexpr int64_t kLanes = V::kLanes;
  V sums[4] = {V::Zero(), V::Zero(), V::Zero(), V::Zero()};
  int64_t i = 0;
  for (; i + 4 * kLanes <= dim; i += 4 * kLanes) {
    for (int j = 0; j < 4; ++j) sums[j] = V::Add(sums[j], V::LoadU(x + i + j * kLanes));
  }
  for (int j = 0; i < dim; ++j, i += kLanes) {
    sums[j] = V::Add(sums[j], V::LoadPartial(x + i, dim - i < kLanes ? dim - i : kLanes));
  }
  return V::ReduceAdd(V::Add(V::Add(sums[0], sums[1]), V::Add(sums[2], sums[3])));
}

// Bytes: x from the caches three times, weight and bias once, out written twice. Operations: 6 an element. out holds
// x - mean between the passes, so that a large mean costs no digits.
template <typename V>
inline void LayerNorm(const LayerNormArgs& args) noexcept {
  constexpr int64_t kLanes = V::kLanes;
  for (int64_t row = 0; row < args.num_rows; ++row) {
    const float* x = args.x + row * args.x_stride;
    float* out = args.out + row * args.out_stride;
    const V mean = V::Broadcast(Sum<V>(x, args.dim) / static_cast<float>(args.dim));
    for (int64_t i = 0; i < args.dim; i += kLanes) {
      const int64_t n = args.dim - i < kLanes ? args.dim - i : kLanes;
      V::StorePartial(out + i, V::Sub(V::LoadPartial(x + i, n), mean), n);
    }
    const float variance = SumOfSquares<V>(out, args.dim) / static_cast<float>(args.dim);
    const V inverse = V::Div(V::Broadcast(1.0f), V::Sqrt(V::Broadcast(variance + args.eps)));
    for (int64_t i = 0; i < args.dim; i += kLanes) {
      const int64_t n = args.dim - i < kLanes ? args.dim - i : kLanes;
      const V scaled = V::Mul(V::LoadPartial(out + i, n), inverse);
      const V bias = args.bias == nullptr ? V::Zero() : V::LoadPartial(args.bias + i, n);
      V::StorePartial(out + i, V::Fma(scaled, V::LoadPartial(args.weight + i, n), bias), n);
    }
  }
}

// (a cos - b sin, b cos + a sin), of which the second product is rounded and the first is not.
template <typename V>
[[gnu::always_inline]] inline void TurnHalves(const RopeArgs& args, float* x) {
  constexpr int kLanes = V::kLanes;
  float* y = x + args.num_pairs;
  int i = 0;
  for (; i + kLanes <= args.num_pairs; i += kLanes) {
    const V a = V::LoadU(x + i);
    const V b = V::LoadU(y + i);
    const V cos = V::LoadU(args.cos + i);
    const V sin = V::LoadU(args.sin + i);
    V::StoreU(x + i, V::Fms(a, cos, V::Mul(b, sin)));
    V::StoreU(y + i, V::Fma(b, cos, V::Mul(a, sin)));
  }
  if (const int n = args.num_pairs - i; n > 0) {
    const V a = V::LoadPartial(x + i, n);
    const V b = V::LoadPartial(y + i, n);
    const V cos = V::LoadPartial(args.cos + i, n);
    const V sin = V::LoadPartial(args.sin + i, n);
    V::StorePartial(x + i, V::Fms(a, cos, V::Mul(b, sin)), n);
    V::StorePartial(y + i, V::Fma(b, cos, V::Mul(a, sin)), n);
  }
}

template <typename V>
[[gnu::always_inline]] inline void TurnInterleaved(const RopeArgs& args, float* x) {
  constexpr int kPairs = V::kLanes / 2;
  int i = 0;
  for (; i + kPairs <= args.num_pairs; i += kPairs) {
    const V ab = V::LoadU(x + 2 * i);
    const V crossed = V::Mul(V::SwapPairs(ab), V::LoadTwice(args.sin + i));
    V::StoreU(x + 2 * i, V::FmaSubAdd(ab, V::LoadTwice(args.cos + i), crossed));
  }
  if (const int n = args.num_pairs - i; n > 0) {
    const V ab = V::LoadPartial(x + 2 * i, 2 * n);
    const V crossed = V::Mul(V::SwapPairs(ab), V::LoadTwice(args.sin + i, n));
    V::StorePartial(x + 2 * i, V::FmaSubAdd(ab, V::LoadTwice(args.cos + i, n), crossed), 2 * n);
  }
}

// Bytes: x read and written, cos and sin from the first-level cache for all heads but one. Operations: 6 a pair.
template <typename V>
inline void Rope(const RopeArgs& args) noexcept {
  float* x = args.x;
  for (int head = 0; head < args.num_heads; ++head, x += args.head_dim) {
    if (args.interleaved) {
      TurnInterleaved<V>(args, x);
    } else {
      TurnHalves<V>(args, x);
    }
  }
}

template <typename V, typename ActivationOf>
[[gnu::always_inline]] inline void GluWith(const GluArgs& args) {
  constexpr int64_t kLanes = V::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= args.num_elements; i += kLanes) {
    V::StoreU(args.out + i, V::Mul(ActivationOf::Of(V::LoadU(args.gate + i)), V::LoadU(args.up + i)));
  }
  if (const int64_t n = args.num_elements - i; n > 0) {
    const V activated = ActivationOf::Of(V::LoadPartial(args.gate + i, n));
    V::StorePartial(args.out + i, V::Mul(activated, V::LoadPartial(args.up + i, n)), n);
  }
}

// Bytes: gate and up read, out written. Operations: about 20 an element.
template <typename V>
inline void Glu(const GluArgs& args) noexcept {
  switch (args.activation) {
    case Activation::kSilu:
      return GluWith<V, Silu<V>>(args);
    case Activation::kGeluTanh:
      return GluWith<V, GeluTanh<V>>(args);
    case Activation::kGeluErf:
      return GluWith<V, GeluErf<V>>(args);
  }
}

template <typename V, typename ActivationOf>
[[gnu::always_inline]] inline void ActivateWith(const ActivateArgs& args) {
  constexpr int64_t kLanes = V::kLanes;
  int64_t i = 0;
  for (; i + kLanes <= args.num_elements; i += kLanes) V::StoreU(args.x + i, ActivationOf::Of(V::LoadU(args.x + i)));
  if (const int64_t n = args.num_elements - i; n > 0) {
    V::StorePartial(args.x + i, ActivationOf::Of(V::LoadPartial(args.x + i, n)), n);
  }
}

// Bytes: x read and written. Operations: about 20 an element.
template <typename V>
inline void Activate(const ActivateArgs& args) noexcept {
  switch (args.activation) {
    case Activation::kSilu:
      return ActivateWith<V, Silu<V>>(args);
    case Activation::kGeluTanh:
      return ActivateWith<V, GeluTanh<V>>(args);
    case Activation::kGeluErf:
      return ActivateWith<V, GeluErf<V>>(args);
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ELEMENTWISE_H_
