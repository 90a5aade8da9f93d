#ifndef ADIT_KERNELS_GENERIC_SOFTCAP_H_
#define ADIT_KERNELS_GENERIC_SOFTCAP_H_

#include "kernels/elementwise.h"
#include "kernels/generic/exp.h"

// cap * tanh(x / cap), of attention scores and of logits.
namespace adit::kernels::generic {

// tanh(x) = 2 / (1 + exp(-2x)) - 1, by an absolute error below 2 ulp of 1: what is capped is compared with its
// neighbours, which are as large as the cap, and not with zero.
template <typename V>
[[gnu::always_inline]] inline V Tanh(V x) {
  const V e = Exp(V::Mul(x, V::Broadcast(-2.0f)));
  return V::Sub(V::Div(V::Broadcast(2.0f), V::Add(V::Broadcast(1.0f), e)), V::Broadcast(1.0f));
}

// Bytes: x read and written. Operations: about 25 an element.
template <typename V>
[[gnu::always_inline]] inline void Softcap(const SoftcapArgs& args) {
  constexpr int64_t kLanes = V::kLanes;
  const V cap = V::Broadcast(args.cap);
  int64_t i = 0;
  for (; i + kLanes <= args.num_elements; i += kLanes) {
    V::StoreU(args.x + i, V::Mul(cap, Tanh(V::Div(V::LoadU(args.x + i), cap))));
  }
  if (const int64_t n = args.num_elements - i; n > 0) {
    V::StorePartial(args.x + i, V::Mul(cap, Tanh(V::Div(V::LoadPartial(args.x + i, n), cap))), n);
  }
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_SOFTCAP_H_
