#include "tensor/encode_search.h"

#include <cstring>

#include "base/check.h"
#include "tensor/encode_fit_internal.h"
#include "tensor/iq4_nl.h"
#include "tensor/iq4_xs.h"
#include "tensor/k_scales.h"
#include "tensor/q2_k.h"
#include "tensor/q3_k.h"
#include "tensor/q4_k.h"
#include "tensor/q5_k.h"
#include "tensor/q6_k.h"

namespace adit {
namespace {

using encode::kElements;

// Calls encode(x, importance, block) for each block, in order.
template <typename Block, int kBlockElements, typename EncodeBlock>
void ForEach(const float* values, const float* importance, std::byte* blocks, int64_t num_elements,
             EncodeBlock encode) noexcept {
  ADIT_DCHECK(num_elements >= 0 && num_elements % kBlockElements == 0);
  for (int64_t begin = 0; begin < num_elements; begin += kBlockElements) {
    Block block{};
    encode(values + begin, importance != nullptr ? importance + begin : nullptr, block);
    std::memcpy(blocks, &block, sizeof(block));
    blocks += sizeof(block);
  }
}

uint8_t Bits(int value) { return static_cast<uint8_t>(value); }

// Two bits of each of four elements 32 apart in a byte, as Q2_K, Q3_K and Q6_K have them.
template <typename Codes>
void PutPairsOfBits(const Codes& codes, int shift, uint8_t* out) {
  for (int j = 0; j < 64; ++j) {
    const int e = 128 * (j / 32) + j % 32;
    int byte = 0;
    for (int k = 0; k < 4; ++k) byte |= (codes[static_cast<size_t>(e + 32 * k)] >> shift & 3) << (2 * k);
    out[j] = Bits(byte);
  }
}

// The low four bits of elements e and e + 32, as Q4_K and Q5_K have them.
void PutNibbles(const std::array<uint8_t, kElements>& codes, uint8_t* out) {
  for (int j = 0; j < 128; ++j) {
    const auto e = static_cast<size_t>(64 * (j / 32) + j % 32);
    out[j] = Bits((codes[e] & 15) | (codes[e + 32] & 15) << 4);
  }
}

void EncodeQ2K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEach<BlockQ2K, kElements>(values, importance, blocks, num_elements,
                               [](const float* x, const float* weights, BlockQ2K& block) {
                                 const auto fit = encode::EncodeAffine<16, 3, 15>(x, weights);
                                 block.d = fit.d;
                                 block.dmin = fit.dmin;
                                 for (size_t g = 0; g < 16; ++g)
                                   block.scales[g] = Bits(fit.scales[g] | fit.mins[g] << 4);
                                 PutPairsOfBits(fit.codes, 0, block.qs);
                               });
}

void EncodeQ3K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEach<BlockQ3K, kElements>(values, importance, blocks, num_elements,
                               [](const float* x, const float* weights, BlockQ3K& block) {
                                 const auto fit = encode::EncodeScaled<encode::WholeLevels<-4, 3>, 16, 32>(x, weights);
                                 block.d = fit.d;
                                 int8_t scales[16];
                                 std::copy(fit.scales.begin(), fit.scales.end(), scales);
                                 PackQ3KScales(scales, block.scales);
                                 std::array<uint8_t, kElements> codes;
                                 for (size_t i = 0; i < codes.size(); ++i) codes[i] = Bits(fit.levels[i] + 4);
                                 PutPairsOfBits(codes, 0, block.qs);
                                 for (size_t i = 0; i < codes.size(); ++i) {
                                   block.hmask[i % 32] = Bits(block.hmask[i % 32] | (codes[i] >> 2) << (i / 32));
                                 }
                               });
}

void EncodeQ4K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEach<BlockQ4K, kElements>(values, importance, blocks, num_elements,
                               [](const float* x, const float* weights, BlockQ4K& block) {
                                 const auto fit = encode::EncodeAffine<8, 15, 63>(x, weights);
                                 block.d = fit.d;
                                 block.dmin = fit.dmin;
                                 PackKScales(fit.scales.data(), fit.mins.data(), block.scales);
                                 PutNibbles(fit.codes, block.qs);
                               });
}

void EncodeQ5K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEach<BlockQ5K, kElements>(values, importance, blocks, num_elements,
                               [](const float* x, const float* weights, BlockQ5K& block) {
                                 const auto fit = encode::EncodeAffine<8, 31, 63>(x, weights);
                                 block.d = fit.d;
                                 block.dmin = fit.dmin;
                                 PackKScales(fit.scales.data(), fit.mins.data(), block.scales);
                                 PutNibbles(fit.codes, block.qs);
                                 for (size_t i = 0; i < kElements; ++i) {
                                   block.qh[i % 32] = Bits(block.qh[i % 32] | (fit.codes[i] >> 4) << (i / 32));
                                 }
                               });
}

void EncodeQ6K(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEach<BlockQ6K, kElements>(
      values, importance, blocks, num_elements, [](const float* x, const float* weights, BlockQ6K& block) {
        const auto fit = encode::EncodeScaled<encode::WholeLevels<-32, 31>, 16, 128>(x, weights);
        block.d = fit.d;
        std::copy(fit.scales.begin(), fit.scales.end(), block.scales);
        std::array<uint8_t, kElements> codes;
        for (size_t i = 0; i < codes.size(); ++i) codes[i] = Bits(fit.levels[i] + 32);
        for (int j = 0; j < 128; ++j) {
          const auto e = static_cast<size_t>(128 * (j / 64) + j % 64);
          block.ql[j] = Bits((codes[e] & 15) | (codes[e + 64] & 15) << 4);
        }
        PutPairsOfBits(codes, 4, block.qh);
      });
}

// 32 elements by themselves: one scale.
void EncodeIQ4NL(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  constexpr int kBlock = 32;
  ForEach<BlockIQ4NL, kBlock>(
      values, importance, blocks, num_elements, [](const float* x, const float* of_each, BlockIQ4NL& block) {
        if (!std::all_of(x, x + kBlock, [](float value) { return std::isfinite(value); })) {
          block.d = encode::kHalfNan;
          return;
        }
        float squares = 0.0f;
        for (int i = 0; i < kBlock; ++i) squares += x[i] * x[i];
        std::array<float, kBlock> weights;
        for (int i = 0; i < kBlock; ++i) {
          weights[static_cast<size_t>(i)] =
              (of_each != nullptr ? of_each[i] : 1.0f) * std::sqrt(2.0f * squares / kBlock + x[i] * x[i]);
        }
        block.d = FloatToHalf(encode::FitScale<encode::TableLevels>(x, weights.data(), kBlock));
        const float inverse = encode::InverseOrZero(HalfToFloat(block.d));
        for (int j = 0; j < kBlock / 2; ++j) {
          block.qs[j] = Bits(encode::TableLevels::Nearest(inverse * x[j]) |
                             encode::TableLevels::Nearest(inverse * x[j + kBlock / 2]) << 4);
        }
      });
}

void EncodeIQ4XS(const float* values, const float* importance, std::byte* blocks, int64_t num_elements) noexcept {
  ForEach<BlockIQ4XS, kElements>(
      values, importance, blocks, num_elements, [](const float* x, const float* weights, BlockIQ4XS& block) {
        const auto fit = encode::EncodeScaled<encode::TableLevels, 8, 32>(x, weights);
        block.d = fit.d;
        for (size_t g = 0; g < 8; ++g) {
          const int scale = fit.scales[g] + 32;
          block.scales_l[g / 2] = Bits(block.scales_l[g / 2] | (scale & 15) << (4 * (g % 2)));
          block.scales_h = static_cast<uint16_t>(block.scales_h | (scale >> 4) << (2 * g));
        }
        for (size_t j = 0; j < 128; ++j) {
          const size_t e = 32 * (j / 16) + j % 16;
          block.qs[j] = Bits(fit.levels[e] | fit.levels[e + 16] << 4);
        }
      });
}

}  // namespace

SearchEncodeFunction SearchEncodeFor(DType dtype) {
  switch (dtype) {
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
      return &EncodeIQ4NL;
    case DType::kIQ4_XS:
      return &EncodeIQ4XS;
    default:
      return nullptr;
  }
}

}  // namespace adit
