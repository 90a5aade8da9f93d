#ifndef ADIT_KERNELS_GENERIC_ACTIVATIONS_H_
#define ADIT_KERNELS_GENERIC_ACTIVATIONS_H_

#include "kernels/generic/exp.h"

// The functions of Activation (kernels/elementwise.h) in the lanes of V.
namespace adit::kernels::generic {

template <typename V>
struct Silu {
  // x / (1 + exp(-x)): below 3 ulp; 0 where the exponential is above the largest float.
  [[gnu::always_inline]] static V Of(V x) {
    const V one = V::Broadcast(1.0f);
    return V::Div(x, V::Add(one, Exp(V::Sub(V::Zero(), x))));
  }
};

template <typename V>
struct GeluTanh {
  // 0.5 x (1 + tanh(u)) = x / (1 + exp(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3): no cancellation where tanh(u) is
  // near -1. The error is below 3 ulp for x > -1; where exp(-2u) is large, the rounding of u adds |2u| / 2 ulp of its
  // own.
  [[gnu::always_inline]] static V Of(V x) {
    const V one = V::Broadcast(1.0f);
    const V cubic = V::Fma(V::Mul(V::Mul(x, x), x), V::Broadcast(0.044715f), x);
    return V::Div(x, V::Add(one, Exp(V::Mul(cubic, V::Broadcast(-1.59576912f)))));
  }
};

template <typename V>
struct GeluErf {
  // x Phi(x), with h = Phi(-|x|) = 0.5 erfc(|x| / sqrt(2)): x - x h above zero and x h below, which is
  // max(x, 0) - |x| h. h = 0.5 t exp(p(t) - x^2 / 2) with t = 1 / (1 + |x| / sqrt(8)), where p, of degree 9,
  // interpolates log(erfc(z) / t) + z^2 at the Chebyshev nodes of t for |x| <= 20: by 7e-8 before rounding. From there
  // on h is 0 in a float. The error is below 10 ulp for x > -2; farther down the rounding of x^2 / 2 adds half of it,
  // in ulp.
  [[gnu::always_inline]] static V Of(V x) {
    const V one = V::Broadcast(1.0f);
    const V a = V::Min(V::Broadcast(20.0f), V::Max(x, V::Sub(V::Zero(), x)));
    const V t = V::Div(one, V::Fma(a, V::Broadcast(0.353553391f), one));
    V p = V::Broadcast(0x1.53ed9ep-3f);
    p = V::Fma(p, t, V::Broadcast(-0x1.96804cp-1f));
    p = V::Fma(p, t, V::Broadcast(0x1.6b3932p+0f));
    p = V::Fma(p, t, V::Broadcast(-0x1.09f210p+0f));
    p = V::Fma(p, t, V::Broadcast(0x1.93b3d0p-3f));
    p = V::Fma(p, t, V::Broadcast(-0x1.23c420p-3f));
    p = V::Fma(p, t, V::Broadcast(0x1.502030p-4f));
    p = V::Fma(p, t, V::Broadcast(0x1.8219a4p-2f));
    p = V::Fma(p, t, V::Broadcast(0x1.ffd944p-1f));
    p = V::Fma(p, t, V::Broadcast(-0x1.43f7b2p+0f));
    const V exponential = Exp(V::Fnma(V::Mul(a, V::Broadcast(0.5f)), a, p));
    const V half_t = V::Mul(t, V::Broadcast(0.5f));
    return V::Fnma(V::Mul(a, half_t), exponential, V::Max(V::Zero(), x));
  }
};

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_ACTIVATIONS_H_
