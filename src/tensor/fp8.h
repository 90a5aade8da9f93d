#ifndef ADIT_TENSOR_FP8_H_
#define ADIT_TENSOR_FP8_H_

#include <cstdint>

namespace adit {

// Numbers of eight bits (Micikevicius et al. 2022, arXiv:2209.05433; OCP 8-bit floating point).

// The largest number of E4M3.
inline constexpr float kLargestE4M3 = 448.0f;

// E4M3: bias 7, no infinities; S.1111.111 is NaN.
float E4M3ToFloat(uint8_t bits);
// Rounds to nearest, ties to even; what is larger than 448 becomes 448, NaN stays NaN.
uint8_t FloatToE4M3(float value);

// The largest number of E5M2, which is the upper half of a binary16.
inline constexpr float kLargestE5M2 = 57344.0f;
float E5M2ToFloat(uint8_t bits);
// Rounds to nearest, ties to even; what is larger than 57344 becomes that, NaN stays NaN.
uint8_t FloatToE5M2(float value);

// The two kinds' rounding, as part of the caller, whatever instructions that is compiled for. `largest_code` is that of
// `largest`, the largest finite number.
template <int kMantissaBits, int kBias>
[[gnu::always_inline]] inline uint8_t RoundToFp8(float value, float largest, uint8_t largest_code) {
  constexpr int kDroppedBits = 23 - kMantissaBits;
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  const uint32_t sign = bits >> 24 & 0x80u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint8_t>(sign | 0x7fu);  // NaN
  float magnitude;
  __builtin_memcpy(&magnitude, &bits, sizeof(magnitude));
  if (magnitude >= largest) return static_cast<uint8_t>(sign | largest_code);
  if (bits < static_cast<uint32_t>(128 - kBias) << 23) {
    // Below the least normal number. Adding 2^23 rounds to whole steps of the last place, and leaves their number in
    // the low bits.
    constexpr auto kSteps = static_cast<float>(1 << (kBias - 1 + kMantissaBits));
    const float steps = magnitude * kSteps + 8388608.0f;
    __builtin_memcpy(&bits, &steps, sizeof(bits));
    return static_cast<uint8_t>(sign | (bits & ((2u << kMantissaBits) - 1)));
  }
  // A carry out of what stays of the mantissa goes into the exponent.
  bits += (1u << (kDroppedBits - 1)) - 1 + (bits >> kDroppedBits & 1u);
  return static_cast<uint8_t>(sign | ((bits >> kDroppedBits) - (static_cast<uint32_t>(127 - kBias) << kMantissaBits)));
}
[[gnu::always_inline]] inline uint8_t RoundToE4M3(float value) { return RoundToFp8<3, 7>(value, kLargestE4M3, 0x7e); }

// 32 elements in 36 bytes, 9 bits each: a scale of single precision and numbers of E4M3.
//   x[i] = d * q[i]
//
//   byte  0..3   d, binary32
//   byte  4 + i  q[i]
//
// Here S.1111.111 is 480 or -480, as its bits say: who makes blocks of what may be NaN looks for it.
//
// What checkpoints of FP8 hold, with a scale for each row, block or tensor, one block for each 32 columns. Of this
// project: no file has it.
struct [[gnu::packed]] BlockFp8 {
  float d;
  uint8_t qs[32];
};
static_assert(sizeof(BlockFp8) == 36);

}  // namespace adit

#endif  // ADIT_TENSOR_FP8_H_
