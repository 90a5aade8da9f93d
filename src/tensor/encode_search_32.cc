// Searches for the types with blocks of 32 elements by themselves.
#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/block_codes_internal.h"
#include "tensor/encode_fit_internal.h"
#include "tensor/encode_search_internal.h"
#include "tensor/half.h"

namespace adit::encode {
namespace {

constexpr int kSearchBlock = 32;

bool IsFiniteBlock(const float* x) {
  return std::all_of(x, x + kSearchBlock, [](float value) { return std::isfinite(value); });
}

// What the error of each element counts: of large ones more, where columns are told apart, since then all of a column
// is small or large; else the same.
std::array<float, kSearchBlock> Weights(const float* x, const float* importance) {
  std::array<float, kSearchBlock> weights;
  weights.fill(1.0f);
  if (importance == nullptr) return weights;
  float squares = 0.0f;
  for (int i = 0; i < kSearchBlock; ++i) squares += x[i] * x[i];
  for (int i = 0; i < kSearchBlock; ++i) {
    weights[static_cast<size_t>(i)] = importance[i] * std::sqrt(2.0f * squares / kSearchBlock + x[i] * x[i]);
  }
  return weights;
}

// x = d * level; codes are levels less the lowest one. Returns d, binary16.
template <class Levels>
uint16_t ScaledCodes(const float* x, const float* importance, int lowest, std::array<uint8_t, kSearchBlock>& codes) {
  codes.fill(0);
  if (!IsFiniteBlock(x)) return kHalfNan;
  const uint16_t d = FloatToHalf(FitScale<Levels>(x, Weights(x, importance).data(), kSearchBlock));
  const float inverse = InverseOrZero(HalfToFloat(d));
  for (int i = 0; i < kSearchBlock; ++i) codes[static_cast<size_t>(i)] = Bits(Levels::Nearest(inverse * x[i]) - lowest);
  return d;
}

struct ScaleAndMin {
  uint16_t d = 0;  // binary16
  uint16_t m = 0;
};

// x = d * code + m.
ScaleAndMin AffineCodes(const float* x, const float* importance, int max_code,
                        std::array<uint8_t, kSearchBlock>& codes) {
  codes.fill(0);
  if (!IsFiniteBlock(x)) return {.d = kHalfNan, .m = 0};
  // The search is for blocks with numbers of both signs; others are moved to begin at zero.
  const auto [least, most] = std::minmax_element(x, x + kSearchBlock);
  const float shift = *least > 0.0f ? *least : (*most < 0.0f ? *most : 0.0f);
  std::array<float, kSearchBlock> moved;
  for (int i = 0; i < kSearchBlock; ++i) moved[static_cast<size_t>(i)] = x[i] - shift;
  const AffineFit fit = FitAffine(moved.data(), Weights(x, importance).data(), kSearchBlock, max_code);
  const ScaleAndMin out{.d = FloatToHalf(fit.scale), .m = FloatToHalf(shift - fit.min)};
  const float inverse = InverseOrZero(HalfToFloat(out.d));
  for (int i = 0; i < kSearchBlock; ++i) {
    codes[static_cast<size_t>(i)] = Bits(AffineCode(x[i], inverse, -HalfToFloat(out.m), max_code));
  }
  return out;
}

}  // namespace

void SearchQ4_0(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ4_0, kSearchBlock>(values, importance, blocks, num_elements,
                                           [](const float* x, const float* of_each, BlockQ4_0& block) {
                                             std::array<uint8_t, kSearchBlock> codes;
                                             block.d = ScaledCodes<WholeLevels<-8, 7>>(x, of_each, -8, codes);
                                             PutCodes(codes.data(), block);
                                           });
}

void SearchQ4_1(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ4_1, kSearchBlock>(values, importance, blocks, num_elements,
                                           [](const float* x, const float* of_each, BlockQ4_1& block) {
                                             std::array<uint8_t, kSearchBlock> codes;
                                             const ScaleAndMin fit = AffineCodes(x, of_each, 15, codes);
                                             block.d = fit.d;
                                             block.m = fit.m;
                                             PutCodes(codes.data(), block);
                                           });
}

void SearchQ5_0(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ5_0, kSearchBlock>(values, importance, blocks, num_elements,
                                           [](const float* x, const float* of_each, BlockQ5_0& block) {
                                             std::array<uint8_t, kSearchBlock> codes;
                                             block.d = ScaledCodes<WholeLevels<-16, 15>>(x, of_each, -16, codes);
                                             PutCodes(codes.data(), block);
                                           });
}

void SearchQ5_1(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ5_1, kSearchBlock>(values, importance, blocks, num_elements,
                                           [](const float* x, const float* of_each, BlockQ5_1& block) {
                                             std::array<uint8_t, kSearchBlock> codes;
                                             const ScaleAndMin fit = AffineCodes(x, of_each, 31, codes);
                                             block.d = fit.d;
                                             block.m = fit.m;
                                             PutCodes(codes.data(), block);
                                           });
}

void SearchIQ4_NL(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockIQ4NL, kSearchBlock>(values, importance, blocks, num_elements,
                                            [](const float* x, const float* of_each, BlockIQ4NL& block) {
                                              std::array<uint8_t, kSearchBlock> codes;
                                              block.d = ScaledCodes<TableLevels>(x, of_each, 0, codes);
                                              PutCodes(codes.data(), block);
                                            });
}

}  // namespace adit::encode
