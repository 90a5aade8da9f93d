#ifndef ADIT_KERNELS_GENERIC_UNROLL_H_
#define ADIT_KERNELS_GENERIC_UNROLL_H_

namespace adit::kernels::generic {

// A number in a type, so that the code it is passed to can use it as a template argument.
template <int kValue>
struct Index {
  static constexpr int value = kValue;
};

// body(Index<0>()), body(Index<1>()) ... body(Index<kCount - 1>()), without a loop: accumulators that it indexes stay
// in registers.
template <int kCount, int kFirst = 0, class Body>
[[gnu::always_inline]] inline void Unroll(Body&& body) {
  if constexpr (kFirst < kCount) {
    body(Index<kFirst>());
    Unroll<kCount, kFirst + 1>(body);
  }
}

}  // namespace adit::kernels::generic

// After the parameters of a lambda: it never becomes a function of its own.
#define ADIT_INLINE_LAMBDA __attribute__((always_inline))

#endif  // ADIT_KERNELS_GENERIC_UNROLL_H_
