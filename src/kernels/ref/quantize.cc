#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "kernels/ref/kernels.h"

namespace adit::kernels::ref {
namespace {

constexpr int kBlock = 32;
constexpr uint32_t kInfinityBits = 0x7f800000u;

// The largest |x| as bits. Magnitudes of floats order like their bits, with infinity above all numbers and NaN above
// it.
uint32_t LargestMagnitude(const float* x) {
  uint32_t largest = 0;
  for (int i = 0; i < kBlock; ++i) largest = std::max(largest, std::bit_cast<uint32_t>(x[i]) & 0x7fffffffu);
  return largest;
}

}  // namespace

// Where the scale is a subnormal number, x / scale can pass 127 by rounding: codes stop there.
void QuantizeQ8(const float* x, int64_t num_cols, std::byte* row) noexcept {
  ADIT_DCHECK(num_cols % kBlock == 0);
  std::byte* coded = row + Q8CodedOffset(num_cols);
  std::memset(coded, 0, static_cast<size_t>(num_cols + 255) / 256);
  for (int64_t begin = 0; begin < num_cols; begin += kBlock) {
    const uint32_t largest = LargestMagnitude(x + begin);
    const float scale = std::bit_cast<float>(largest) / 127.0f;
    int8_t codes[kBlock] = {};
    int32_t sums[2] = {};
    if (scale > 0.0f && largest < kInfinityBits) {
      for (int i = 0; i < kBlock; ++i) {
        const float code = std::nearbyint(std::clamp(x[begin + i] / scale, -127.0f, 127.0f));
        codes[i] = static_cast<int8_t>(code);
        sums[i / 16] += codes[i];
      }
      coded[begin / 256] |= static_cast<std::byte>(1 << begin / kBlock % 8);
    }
    std::memcpy(row + begin, codes, sizeof(codes));
    std::memcpy(row + Q8ScalesOffset(num_cols) + begin / kBlock * 4, &scale, sizeof(scale));
    std::memcpy(row + Q8SumsOffset(num_cols) + begin / 16 * 4, sums, sizeof(sums));
  }
}

}  // namespace adit::kernels::ref
