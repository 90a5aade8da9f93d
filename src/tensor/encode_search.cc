#include "tensor/encode_search.h"

#include <algorithm>
#include <array>

#include "tensor/block_codes_internal.h"
#include "tensor/encode.h"
#include "tensor/encode_fit_internal.h"
#include "tensor/encode_search_internal.h"
#include "tensor/iq4_xs.h"
#include "tensor/k_scales.h"
#include "tensor/q2_k.h"
#include "tensor/q3_k.h"
#include "tensor/q4_k.h"
#include "tensor/q5_k.h"
#include "tensor/q6_k.h"

namespace adit {
namespace {

using encode::ForEachWeighted;
using encode::kElements;

// Levels of whole numbers as codes from 0 on.
std::array<uint8_t, kElements> CodesOfLevels(const std::array<int8_t, kElements>& levels, int lowest) {
  std::array<uint8_t, kElements> codes;
  for (size_t i = 0; i < codes.size(); ++i) codes[i] = encode::Bits(levels[i] - lowest);
  return codes;
}

void EncodeQ2K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ2K, kElements>(values, importance, blocks, num_elements,
                                       [](const float* x, const float* weights, BlockQ2K& block) {
                                         const auto fit = encode::EncodeAffine<16, 3, 15>(x, weights);
                                         block.d = fit.d;
                                         block.dmin = fit.dmin;
                                         for (size_t g = 0; g < 16; ++g)
                                           block.scales[g] = encode::Bits(fit.scales[g] | fit.mins[g] << 4);
                                         encode::PutCodes(fit.codes.data(), block);
                                       });
}

void EncodeQ3K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ3K, kElements>(
      values, importance, blocks, num_elements, [](const float* x, const float* weights, BlockQ3K& block) {
        const auto fit = encode::EncodeScaled<encode::WholeLevels<-4, 3>, 16, 32>(x, weights);
        block.d = fit.d;
        int8_t scales[16];
        std::copy(fit.scales.begin(), fit.scales.end(), scales);
        PackQ3KScales(scales, block.scales);
        encode::PutCodes(CodesOfLevels(fit.levels, -4).data(), block);
      });
}

void EncodeQ4K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ4K, kElements>(values, importance, blocks, num_elements,
                                       [](const float* x, const float* weights, BlockQ4K& block) {
                                         const auto fit = encode::EncodeAffine<8, 15, 63>(x, weights);
                                         block.d = fit.d;
                                         block.dmin = fit.dmin;
                                         PackKScales(fit.scales.data(), fit.mins.data(), block.scales);
                                         encode::PutCodes(fit.codes.data(), block);
                                       });
}

void EncodeQ5K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ5K, kElements>(values, importance, blocks, num_elements,
                                       [](const float* x, const float* weights, BlockQ5K& block) {
                                         const auto fit = encode::EncodeAffine<8, 31, 63>(x, weights);
                                         block.d = fit.d;
                                         block.dmin = fit.dmin;
                                         PackKScales(fit.scales.data(), fit.mins.data(), block.scales);
                                         encode::PutCodes(fit.codes.data(), block);
                                       });
}

void EncodeQ6K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockQ6K, kElements>(
      values, importance, blocks, num_elements, [](const float* x, const float* weights, BlockQ6K& block) {
        const auto fit = encode::EncodeScaled<encode::WholeLevels<-32, 31>, 16, 128>(x, weights);
        block.d = fit.d;
        std::copy(fit.scales.begin(), fit.scales.end(), block.scales);
        encode::PutCodes(CodesOfLevels(fit.levels, -32).data(), block);
      });
}

void EncodeIQ4XS(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEachWeighted<BlockIQ4XS, kElements>(
      values, importance, blocks, num_elements, [](const float* x, const float* weights, BlockIQ4XS& block) {
        const auto fit = encode::EncodeScaled<encode::TableLevels, 8, 32>(x, weights);
        block.d = fit.d;
        for (size_t g = 0; g < 8; ++g) {
          const int scale = fit.scales[g] + 32;
          block.scales_l[g / 2] = encode::Bits(block.scales_l[g / 2] | (scale & 15) << (4 * (g % 2)));
          block.scales_h = static_cast<uint16_t>(block.scales_h | (scale >> 4) << (2 * g));
        }
        encode::PutCodes(CodesOfLevels(fit.levels, 0).data(), block);
      });
}

}  // namespace

SearchEncodeFunction SearchEncodeFor(DType dtype) {
  switch (dtype) {
    case DType::kQ4_0:
      return &encode::SearchQ4_0;
    case DType::kQ4_1:
      return &encode::SearchQ4_1;
    case DType::kQ5_0:
      return &encode::SearchQ5_0;
    case DType::kQ5_1:
      return &encode::SearchQ5_1;
    case DType::kQ2_K:
      return &EncodeQ2K;
    case DType::kQ3_K:
      return &EncodeQ3K;
    case DType::kQ4_K:
      return &EncodeQ4K;
    case DType::kQ5_K:
      return &EncodeQ5K;
    case DType::kQ6_K:
      return &EncodeQ6K;
    case DType::kIQ4_NL:
      return &encode::SearchIQ4_NL;
    case DType::kIQ4_XS:
      return &EncodeIQ4XS;
    default:
      return nullptr;
  }
}

void EncodeRows(DType dtype, const float* rows, const float* importance, std::byte* out, int64_t num_rows,
                int64_t row_elements) noexcept {
  const SearchEncodeFunction search = importance == nullptr ? nullptr : SearchEncodeFor(dtype);
  if (search == nullptr) return EncodeFor(dtype)(rows, out, num_rows * row_elements);
  const size_t row_bytes = RowBytes(dtype, row_elements);
  for (int64_t row = 0; row < num_rows; ++row) {
    search(rows + row * row_elements, importance, out + static_cast<size_t>(row) * row_bytes, row_elements);
  }
}

}  // namespace adit
