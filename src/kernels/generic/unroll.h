#ifndef ADIT_KERNELS_GENERIC_UNROLL_H_
#define ADIT_KERNELS_GENERIC_UNROLL_H_

#include <utility>

namespace adit::kernels::generic {

// A number in a type, so that the code it is passed to can use it as a template argument.
template <int kValue>
struct Index {
  static constexpr int value = kValue;
};

template <class Body, int... kValues>
[[gnu::always_inline]] inline void UnrollOver(Body& body, std::integer_sequence<int, kValues...>) {
  (body(Index<kValues>()), ...);
}

// body(Index<0>()), body(Index<1>()) ... body(Index<kCount - 1>()), without a loop: accumulators that it indexes stay
// in registers. (Not by recursion: gcc would copy the last body kCount times, each into the one before.)
template <int kCount, class Body>
[[gnu::always_inline]] inline void Unroll(Body&& body) {
  UnrollOver(body, std::make_integer_sequence<int, kCount>());
}

}  // namespace adit::kernels::generic

// After the parameters of a lambda: it never becomes a function of its own.
#define ADIT_INLINE_LAMBDA __attribute__((always_inline))

#endif  // ADIT_KERNELS_GENERIC_UNROLL_H_
