#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/matmul.h"
#include "kernels/matmul_test_data.h"

namespace adit::kernels {
namespace {

class MatmulPack : public ::testing::TestWithParam<MatmulCase> {
 protected:
  DType dtype() const { return GetParam().dtype; }
  const WeightKernels& kernels() const { return GetParam().table->weights[static_cast<int>(dtype())]; }
  int64_t NumPanels(int64_t num_rows) const { return (num_rows + kernels().panel_rows - 1) / kernels().panel_rows; }
  size_t PanelsBytes(const TestWeights& weights) const {
    return static_cast<size_t>(NumPanels(weights.num_rows())) * kernels().panel_bytes(weights.num_cols());
  }
  TestWeights Weights(int64_t num_rows, int64_t num_blocks) const {
    return TestWeights(dtype(), num_rows, num_blocks * std::max(Traits(dtype()).block_elements, 32), 3);
  }
};

PackArgs ArgsOf(const TestWeights& weights, std::byte* panels) {
  return {.rows = weights.bytes().data(),
          .row_bytes = weights.row_bytes(),
          .num_rows = weights.num_rows(),
          .num_cols = weights.num_cols(),
          .panels = panels};
}

// Scales of six bits take eight in a panel: 16 * 2 bits in the 110 bytes of a Q3_K block are the most. TQ1_0 takes what
// TQ2_0 does, 66 bytes for 54, and IQ3_S codes of four bits, 134 bytes for 110.
TEST_P(MatmulPack, TakesHardlyMoreThanTheFile) {
  const TestWeights weights = Weights(kernels().panel_rows, 8);
  EXPECT_EQ(kernels().panel_bytes(weights.num_cols()) % 64, 0u);
  const bool expanded = dtype() == DType::kTQ1_0 || dtype() == DType::kIQ3_S;
  const size_t per_mille = expanded ? 1223 : 1037;
  EXPECT_LE(PanelsBytes(weights), weights.bytes().size() * per_mille / 1000);
}

TEST_P(MatmulPack, WritesTheSameBytesForAnySplit) {
  const TestWeights weights = Weights(5 * kernels().panel_rows - 3, 2);
  const size_t size = PanelsBytes(weights);
  AlignedBytes whole(size);
  AlignedBytes parts(size);
  std::memset(whole.data(), 0x11, size);
  std::memset(parts.data(), 0x11, size);
  const int64_t num_panels = NumPanels(weights.num_rows());
  kernels().pack(ArgsOf(weights, whole.data()), 0, num_panels);
  for (int64_t panel = num_panels - 1; panel >= 0; --panel) {
    kernels().pack(ArgsOf(weights, parts.data()), panel, panel + 1);
  }
  EXPECT_EQ(std::memcmp(whole.data(), parts.data(), size), 0);
}

TEST_P(MatmulPack, WritesItsPanelsAlone) {
  const TestWeights weights = Weights(3 * kernels().panel_rows, 3);
  const size_t panel_bytes = kernels().panel_bytes(weights.num_cols());
  AlignedBytes panels(3 * panel_bytes);
  std::memset(panels.data(), 0x5a, 3 * panel_bytes);
  kernels().pack(ArgsOf(weights, panels.data()), 1, 2);
  for (size_t i = 0; i < 3 * panel_bytes; ++i) {
    if (i / panel_bytes == 1) continue;
    ASSERT_EQ(panels.data()[i], std::byte{0x5a}) << "byte " << i;
  }
}

// Rows lie in a file as its header leaves them, and may be parts of longer ones.
TEST_P(MatmulPack, TakesRowsAtAnyAddressAndDistance) {
  const TestWeights weights = Weights(2 * kernels().panel_rows - 1, 2);
  const size_t size = PanelsBytes(weights);
  AlignedBytes want(size);
  std::memset(want.data(), 0, size);
  kernels().pack(ArgsOf(weights, want.data()), 0, 2);

  const size_t stride = weights.row_bytes() + 7;
  std::vector<std::byte> moved(1 + stride * static_cast<size_t>(weights.num_rows()));
  for (int64_t row = 0; row < weights.num_rows(); ++row) {
    std::memcpy(moved.data() + 1 + static_cast<size_t>(row) * stride,
                weights.bytes().data() + static_cast<size_t>(row) * weights.row_bytes(), weights.row_bytes());
  }
  AlignedBytes got(size);
  std::memset(got.data(), 0, size);
  PackArgs args = ArgsOf(weights, got.data());
  args.rows = moved.data() + 1;
  args.row_bytes = stride;
  kernels().pack(args, 0, 2);
  EXPECT_EQ(std::memcmp(want.data(), got.data(), size), 0);
}

INSTANTIATE_TEST_SUITE_P(Sets, MatmulPack, ::testing::ValuesIn(MatmulCases()),
                         [](const auto& test) { return NameOf(test.param); });

}  // namespace
}  // namespace adit::kernels
