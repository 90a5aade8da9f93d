#ifndef ADIT_KERNELS_GENERIC_EXP_H_
#define ADIT_KERNELS_GENERIC_EXP_H_

// e^x in the lanes of V. exp(x) = 2^n exp(r) with n = x / ln 2 to the nearest integer and |r| <= ln 2 / 2, of which ln
// 2 is taken off in two parts so that r has all its bits; exp(r) = 1 + (r + r^2 p(r)), where p, of degree 4,
// interpolates (exp(r) - 1 - r) / r^2 at the Chebyshev nodes of the interval: relative error 1.1e-8 before rounding.
// Over all floats the error is below 1.1 ulp.
namespace adit::kernels::generic {

template <typename V>
struct ReducedExp {
  V power;     // n
  V mantissa;  // exp(r), 0.7 to 1.42

  [[gnu::always_inline]] explicit ReducedExp(V x) {
    power = V::Round(V::Mul(x, V::Broadcast(1.44269504f)));
    // The upper part of ln 2 has 15 bits: n times it is exact.
    V r = V::Fnma(power, V::Broadcast(0x1.62e4p-1f), x);
    r = V::Fnma(power, V::Broadcast(0x1.7f7d1cp-20f), r);
    V p = V::Broadcast(0x1.6d110ap-10f);
    p = V::Fma(p, r, V::Broadcast(0x1.120b6ep-7f));
    p = V::Fma(p, r, V::Broadcast(0x1.55551ap-5f));
    p = V::Fma(p, r, V::Broadcast(0x1.5554dcp-3f));
    p = V::Fma(p, r, V::Broadcast(0.5f));
    p = V::Fma(p, V::Mul(r, r), r);
    mantissa = V::Add(p, V::Broadcast(1.0f));
  }
};

// For all x: subnormal results are right, exp(-inf) = 0, exp(inf) = inf, NaN stays NaN.
template <typename V>
[[gnu::always_inline]] inline V Exp(V x) {
  // Below the first the result rounds to 0, above the second to infinity. Min and Max give their second operand for
  // NaN.
  const ReducedExp<V> e(V::Min(V::Broadcast(89.0f), V::Max(V::Broadcast(-104.0f), x)));
  return V::Ldexp(e.mantissa, e.power);
}

// For x <= 0 and NaN, with fewer steps: what is below exp(-87.3) = 1.2e-38 comes out as that.
template <typename V>
[[gnu::always_inline]] inline V ExpNonPositive(V x) {
  const ReducedExp<V> e(V::Max(V::Broadcast(-87.3f), x));
  return V::LdexpNormal(e.mantissa, e.power);
}

}  // namespace adit::kernels::generic

#endif  // ADIT_KERNELS_GENERIC_EXP_H_
