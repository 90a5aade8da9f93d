#ifndef ADIT_TENSOR_IQ_DECODE_INTERNAL_H_
#define ADIT_TENSOR_IQ_DECODE_INTERNAL_H_

#include <cstdint>

namespace adit {

// Eight elements of IQ2 and IQ3: `magnitudes` has one in each byte, bit i of `signs` is set where element i is
// negative.
inline void PutSigned(float scale, uint64_t magnitudes, uint8_t signs, float* x) {
  for (int i = 0; i < 8; ++i) {
    const int magnitude = static_cast<int>(magnitudes >> (8 * i) & 255);
    x[i] = scale * static_cast<float>((signs >> i & 1) != 0 ? -magnitude : magnitude);
  }
}

// Eight elements of IQ1: `values` has one more than each in a byte.
inline void PutShifted(float scale, uint64_t values, float shift, float* x) {
  for (int i = 0; i < 8; ++i) {
    x[i] = scale * (static_cast<float>(static_cast<int>(values >> (8 * i) & 255) - 1) + shift);
  }
}

}  // namespace adit

#endif  // ADIT_TENSOR_IQ_DECODE_INTERNAL_H_
