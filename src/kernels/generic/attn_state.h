#ifndef ADIT_KERNELS_GENERIC_ATTN_STATE_H_
#define ADIT_KERNELS_GENERIC_ATTN_STATE_H_

#include "kernels/attention.h"
#include "kernels/generic/exp.h"

// The running softmax states of attention.h.
namespace adit::kernels::generic {

template <typename V>
[[gnu::always_inline]] inline bool IsEmptyState(const float* state) {
  return state[0] == -__builtin_inff() && state[1] == 0.0f;
}

// into = into * exp(into.max - m) + from * exp(from.max - m), m the larger maximum; the product with `from` is rounded.
// A state that is merged with an empty one keeps its bits.
template <typename V>
inline void MergeStates(const float* from, float* into, int v_dim) noexcept {
  constexpr int kLanes = V::kLanes;
  if (IsEmptyState<V>(from)) return;
  if (IsEmptyState<V>(into)) {
    for (int i = 0; i < v_dim + 2; ++i) into[i] = from[i];
    return;
  }
  const V from_max = V::Broadcast(from[0]);
  const V into_max = V::Broadcast(into[0]);
  const V largest = V::Max(from_max, into_max);
  const V add = Exp(V::Sub(from_max, largest));
  const V keep = Exp(V::Sub(into_max, largest));
  into[0] = V::First(largest);
  int i = 1;  // the sum, then the values
  for (; i + kLanes <= v_dim + 2; i += kLanes) {
    V::StoreU(into + i, V::Fma(V::LoadU(into + i), keep, V::Mul(V::LoadU(from + i), add)));
  }
  if (const int n = v_dim + 2 - i; n > 0) {
    const V added = V::Mul(V::LoadPartial(from + i, n), add);
    V::StorePartial(into + i, V::Fma(V::LoadPartial(into + i, n), keep, added), n);
  }
}

template <typename V>
inline void FinishState(const float* state, float* out, int v_dim) noexcept {
  constexpr int kLanes = V::kLanes;
  const V sum = V::Broadcast(state[1]);
  const float* values = state + 2;
  int d = 0;
  for (; d + kLanes <= v_dim; d += kLanes) V::StoreU(out + d, V::Div(V::LoadU(values + d), sum));
  if (const int n = v_dim - d; n > 0) V::StorePartial(out + d, V::Div(V::LoadPartial(values + d, n), sum), n);
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ATTN_STATE_H_
