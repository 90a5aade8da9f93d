#include "tensor/encode.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/encode_internal.h"
#include "tensor/encode_search.h"
#include "tensor/half.h"
#include "tensor/q4_0.h"
#include "tensor/q4_1.h"
#include "tensor/q5_0.h"
#include "tensor/q5_1.h"
#include "tensor/q8_0.h"

namespace adit {
namespace {

constexpr int kBlock = 32;

float InverseOrZero(float scale) { return scale != 0.0f ? 1.0f / scale : 0.0f; }

// The whole part within [0, max]; NaN gives 0, and its block's scale is NaN or infinite anyhow.
uint8_t Code(float value, int max) {
  if (!(value > 0.0f)) return 0;
  return value >= static_cast<float>(max) ? static_cast<uint8_t>(max) : static_cast<uint8_t>(value);
}

// The first element of the largest magnitude, with its sign.
float Peak(const float* x) {
  float peak = 0.0f;
  for (int i = 0; i < kBlock; ++i) {
    if (std::abs(x[i]) > std::abs(peak)) peak = x[i];
  }
  return peak;
}

struct Range {
  float low = 0.0f;
  float high = 0.0f;
};

Range RangeOf(const float* x) {
  const auto [low, high] = std::minmax_element(x, x + kBlock);
  return {*low, *high};
}

// Codes of 4 bits, elements j and j + 16 in one byte.
void PutLowBits(const uint8_t* codes, uint8_t* qs) {
  for (int j = 0; j < kBlock / 2; ++j) qs[j] = static_cast<uint8_t>((codes[j] & 15) | ((codes[j + 16] & 15) << 4));
}

void PutHighBits(const uint8_t* codes, uint8_t* qh) {
  for (int i = 0; i < kBlock; ++i) qh[i / 8] = static_cast<uint8_t>(qh[i / 8] | ((codes[i] >> 4) << (i % 8)));
}

// Codes of x[i] / d around an offset; the peak gets code 0. Returns the scale.
float SignedCodes(const float* x, int offset, uint8_t* codes) {
  const float d = Peak(x) / static_cast<float>(-offset);
  const float inverse = InverseOrZero(d);
  const float half_up = static_cast<float>(offset) + 0.5f;
  for (int i = 0; i < kBlock; ++i) codes[i] = Code(x[i] * inverse + half_up, 2 * offset - 1);
  return d;
}

// Codes from the least element (0) to the largest. Returns the scale.
float RangeCodes(const float* x, const Range& range, int max, uint8_t* codes) {
  const float d = (range.high - range.low) / static_cast<float>(max);
  const float inverse = InverseOrZero(d);
  for (int i = 0; i < kBlock; ++i) codes[i] = Code((x[i] - range.low) * inverse + 0.5f, max);
  return d;
}

void EncodeF32(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  if (num_elements > 0) std::memcpy(blocks, values, static_cast<size_t>(num_elements) * sizeof(float));
}

template <uint16_t (*kRound)(float)>
void EncodeHalves(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  for (int64_t i = 0; i < num_elements; ++i) {
    const uint16_t bits = kRound(values[i]);
    std::memcpy(blocks + static_cast<size_t>(i) * sizeof(bits), &bits, sizeof(bits));
  }
}

void EncodeQ4_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockQ4_0, kBlock>(values, blocks, num_elements, [](const float* x, BlockQ4_0& block) {
    uint8_t codes[kBlock];
    block.d = FloatToHalf(SignedCodes(x, 8, codes));
    PutLowBits(codes, block.qs);
  });
}

void EncodeQ4_1(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockQ4_1, kBlock>(values, blocks, num_elements, [](const float* x, BlockQ4_1& block) {
    uint8_t codes[kBlock];
    const Range range = RangeOf(x);
    block.d = FloatToHalf(RangeCodes(x, range, 15, codes));
    block.m = FloatToHalf(range.low);
    PutLowBits(codes, block.qs);
  });
}

void EncodeQ5_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockQ5_0, kBlock>(values, blocks, num_elements, [](const float* x, BlockQ5_0& block) {
    uint8_t codes[kBlock];
    block.d = FloatToHalf(SignedCodes(x, 16, codes));
    PutLowBits(codes, block.qs);
    PutHighBits(codes, block.qh);
  });
}

void EncodeQ5_1(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockQ5_1, kBlock>(values, blocks, num_elements, [](const float* x, BlockQ5_1& block) {
    uint8_t codes[kBlock];
    const Range range = RangeOf(x);
    block.d = FloatToHalf(RangeCodes(x, range, 31, codes));
    block.m = FloatToHalf(range.low);
    PutLowBits(codes, block.qs);
    PutHighBits(codes, block.qh);
  });
}

void EncodeQ8_0(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachBlockOf<BlockQ8_0, kBlock>(values, blocks, num_elements, [](const float* x, BlockQ8_0& block) {
    const float d = std::abs(Peak(x)) / 127.0f;
    const float inverse = InverseOrZero(d);
    block.d = FloatToHalf(d);
    for (int i = 0; i < kBlock; ++i) {
      // Halves round away from zero.
      const float rounded = std::round(x[i] * inverse);
      block.qs[i] = std::abs(rounded) <= 127.0f ? static_cast<int8_t>(rounded) : int8_t{0};
    }
  });
}

template <DType kType>
void EncodeBySearch(const float* values, std::byte* blocks, int64_t num_elements) noexcept {
  SearchEncodeFor(kType)(values, nullptr, blocks, num_elements);
}

}  // namespace

EncodeFunction EncodeFor(DType dtype) {
  struct Row {
    DType dtype;
    EncodeFunction encode;
  };
  static constexpr Row kRows[] = {
      {DType::kF32, &EncodeF32},
      {DType::kF16, &EncodeHalves<&FloatToHalf>},
      {DType::kBF16, &EncodeHalves<&FloatToBf16>},
      {DType::kQ4_0, &EncodeQ4_0},
      {DType::kQ4_1, &EncodeQ4_1},
      {DType::kQ5_0, &EncodeQ5_0},
      {DType::kQ5_1, &EncodeQ5_1},
      {DType::kQ8_0, &EncodeQ8_0},
      {DType::kQ2_K, &EncodeBySearch<DType::kQ2_K>},
      {DType::kQ3_K, &EncodeBySearch<DType::kQ3_K>},
      {DType::kQ4_K, &EncodeBySearch<DType::kQ4_K>},
      {DType::kQ5_K, &EncodeBySearch<DType::kQ5_K>},
      {DType::kQ6_K, &EncodeBySearch<DType::kQ6_K>},
      {DType::kIQ4_NL, &EncodeBySearch<DType::kIQ4_NL>},
      {DType::kIQ4_XS, &EncodeBySearch<DType::kIQ4_XS>},
      {DType::kTQ1_0, &EncodeTQ1_0},
      {DType::kTQ2_0, &EncodeTQ2_0},
      {DType::kMXFP4, &EncodeMXFP4},
  };
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return row.encode;
  }
  return nullptr;
}

}  // namespace adit
