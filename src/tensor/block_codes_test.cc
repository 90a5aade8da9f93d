#include "tensor/block_codes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tensor/encode.h"

namespace adit {
namespace {

constexpr DType kTypes[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ8_0,   DType::kQ2_K,
                            DType::kQ3_K, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS};

class BlockCodes : public testing::TestWithParam<DType> {
 protected:
  BlockCodes() : elements_(static_cast<size_t>(Traits(GetParam()).block_elements)) {
    std::vector<float> values(elements_);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = std::sin(0.7f * static_cast<float>(i)) + 0.4f * std::cos(2.1f * static_cast<float>(i * i % 977));
    }
    block_.resize(static_cast<size_t>(Traits(GetParam()).block_bytes));
    EncodeFor(GetParam())(values.data(), block_.data(), static_cast<int64_t>(elements_));
  }
  std::vector<float> Decoded() const {
    std::vector<float> out(elements_);
    Traits(GetParam()).decode(block_.data(), out.data(), static_cast<int64_t>(elements_));
    return out;
  }

  size_t elements_;
  std::vector<std::byte> block_;
};

TEST_P(BlockCodes, ValuesAreWhatTheDecoderMakesOfCodes) {
  const BlockGrid grid = GridOf(GetParam(), block_.data());
  for (int round = 0; round < 3; ++round) {
    std::vector<uint8_t> codes(elements_);
    for (size_t i = 0; i < elements_; ++i) {
      codes[i] = static_cast<uint8_t>((i * 7 + static_cast<size_t>(round) * 13) % static_cast<size_t>(grid.num_codes));
    }
    SetCodes(GetParam(), codes.data(), block_.data());
    const std::vector<float> decoded = Decoded();
    for (size_t i = 0; i < elements_; ++i) {
      EXPECT_NEAR(grid.Value(static_cast<int>(i), codes[i]), decoded[i], 2e-6f) << i;
    }
  }
}

TEST_P(BlockCodes, TheGridOfABlockDoesNotDependOnItsCodes) {
  const BlockGrid before = GridOf(GetParam(), block_.data());
  const std::vector<uint8_t> codes(elements_, 1);
  SetCodes(GetParam(), codes.data(), block_.data());
  const BlockGrid after = GridOf(GetParam(), block_.data());
  for (size_t i = 0; i < elements_; ++i) {
    EXPECT_EQ(before.low[i], after.low[i]);
    EXPECT_EQ(before.step[i], after.step[i]);
  }
}

TEST_P(BlockCodes, NearestIsNearest) {
  const BlockGrid grid = GridOf(GetParam(), block_.data());
  for (int i = 0; i < static_cast<int>(elements_); i += 5) {
    for (float x = -2.0f; x < 2.0f; x += 0.037f) {
      const float got = std::abs(grid.Value(i, grid.Nearest(i, x)) - x);
      for (int code = 0; code < grid.num_codes; ++code) {
        EXPECT_LE(got, std::abs(grid.Value(i, code) - x) + 1e-6f) << i << " " << x;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BlockCodes, testing::ValuesIn(kTypes),
                         [](const auto& type) { return std::string(Traits(type.param).name); });

TEST(HasBlockGrid, OfTypesWithScalesAndCodesAlone) {
  for (const DType dtype : kTypes) EXPECT_TRUE(HasBlockGrid(dtype));
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kIQ2_XS, DType::kMXFP4})
    EXPECT_FALSE(HasBlockGrid(dtype));
}

}  // namespace
}  // namespace adit
