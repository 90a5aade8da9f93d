#include <algorithm>
#include <cmath>

#include "tensor/encode_internal.h"
#include "tensor/fp4_scales.h"
#include "tensor/half.h"
#include "tensor/mxfp4.h"
#include "tensor/tq1_0.h"
#include "tensor/tq2_0.h"

namespace adit {
namespace {

// The largest magnitude; NaN counts for nothing.
float LargestMagnitude(const float* x, int count) {
  float largest = 0.0f;
  for (int i = 0; i < count; ++i) {
    if (std::abs(x[i]) > largest) largest = std::abs(x[i]);
  }
  return largest;
}

// 0, 1 or 2 for the nearest of -d, 0 and d; halves go away from zero. Where d is infinite, NaN gives 1.
int TernaryCode(float x, float inverse) {
  const float ratio = x * inverse;
  return 1 + (ratio >= 0.5f ? 1 : 0) - (ratio <= -0.5f ? 1 : 0);
}

float TernaryInverse(float d) { return d == 0.0f ? 0.0f : 1.0f / d; }

// The nearest of kFP4Values times d, the first of two that are as near.
int NearestFP4(float x, float d) {
  int best = 0;
  float least = std::abs(d * static_cast<float>(kFP4Values[0]) - x);
  for (int i = 1; i < 16; ++i) {
    const float error = std::abs(d * static_cast<float>(kFP4Values[i]) - x);
    if (error < least) {
      best = i;
      least = error;
    }
  }
  return best;
}

// Values too large for any scale get the largest, with which the products are infinite.
int CodeFP4(float x, float d) {
  if (std::isfinite(x)) return NearestFP4(x, d);
  return std::signbit(x) ? 15 : 7;
}

// Such that the largest magnitude is 4 to 8 halves of the scale: 4 is the largest power of two among the values.
uint8_t PowerFor(float largest) {
  if (!(largest > 0.0f)) return 0;
  return static_cast<uint8_t>(std::clamp(std::floor(std::log2(largest)) - 2.0f + 127.0f, 0.0f, 254.0f));
}

}  // namespace

void EncodeTQ1_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockTQ1_0, 256>(values, blocks, num_elements, [](const float* x, BlockTQ1_0& block) {
    constexpr int kPowers[] = {81, 27, 9, 3, 1};
    const float d = LargestMagnitude(x, 256);
    const float inverse = TernaryInverse(d);
    int numbers[52] = {};
    for (int i = 0; i < 256; ++i) {
      const TernaryPlace place = TernaryPlaceOf(i);
      numbers[place.byte] += TernaryCode(x[i], inverse) * kPowers[place.digit];
    }
    const auto stored = [](int number) { return static_cast<uint8_t>((number * 256 + 242) / 243); };
    for (int i = 0; i < 48; ++i) block.qs[i] = stored(numbers[i]);
    for (int i = 0; i < 4; ++i) block.qh[i] = stored(numbers[48 + i]);
    block.d = FloatToHalf(d);
  });
}

void EncodeTQ2_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockTQ2_0, 256>(values, blocks, num_elements, [](const float* x, BlockTQ2_0& block) {
    const float d = LargestMagnitude(x, 256);
    const float inverse = TernaryInverse(d);
    for (int i = 0; i < 256; ++i) {
      uint8_t& byte = block.qs[32 * (i / 128) + i % 32];
      byte = static_cast<uint8_t>(byte | TernaryCode(x[i], inverse) << (2 * (i / 32 % 4)));
    }
    block.d = FloatToHalf(d);
  });
}

void EncodeMXFP4(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockMXFP4, 32>(values, blocks, num_elements, [](const float* x, BlockMXFP4& block) {
    block.e = std::all_of(x, x + 32, [](float value) { return std::isfinite(value); })
                  ? PowerFor(LargestMagnitude(x, 32))
                  : uint8_t{255};
    const float d = PowerToFloat(block.e);
    for (int j = 0; j < 16; ++j) {
      block.qs[j] = static_cast<uint8_t>(CodeFP4(x[j], d) | CodeFP4(x[j + 16], d) << 4);
    }
  });
}

}  // namespace adit
