#include "kernels/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/matmul_test_data.h"
#include "kernels/test_data.h"

namespace adit::kernels {
namespace {

class Matmul : public ::testing::TestWithParam<MatmulCase> {
 protected:
  const KernelTable& table() const { return *GetParam().table; }
  DType dtype() const { return GetParam().dtype; }
  const WeightKernels& kernels() const { return table().weights[static_cast<int>(dtype())]; }
  int64_t block() const { return std::max(Traits(dtype()).block_elements, IsPlain() ? 1 : 32); }
  bool IsPlain() const { return Traits(dtype()).block_elements == 1; }
  bool ReadsFloats() const { return kernels().activation != ActivationFormat::kQ8; }

  TestWeights Weights(int64_t num_rows, int64_t num_cols) const { return TestWeights(dtype(), num_rows, num_cols, 5); }
  TestActivations Activations(int64_t num_tokens, int64_t num_cols) const {
    return Activations(RandomFloats(7).Vector(num_tokens * num_cols), num_cols);
  }
  TestActivations Activations(std::vector<float> values, int64_t num_cols) const {
    return TestActivations(table(), kernels().activation, std::move(values), num_cols);
  }
  void ExpectTheSameBitsInAnyBatch(TestActivations x, int64_t num_cols) const;
};

// Compares the product of a kernel set with that in double precision.
void ExpectProduct(const KernelTable& table, const TestWeights& weights, const TestActivations& x) {
  const PackedWeights packed(table, weights);
  std::vector<float> out(static_cast<size_t>(x.num_tokens() * weights.num_rows()), -1.0f);
  packed.Multiply(packed.Args(x, x.num_tokens(), out.data()));
  const ExpectedProduct expected = Multiply(weights, x, x.num_tokens());
  EXPECT_TRUE(AllWithin(out, expected.values, expected.tolerances))
      << weights.num_rows() << " x " << weights.num_cols() << ", " << x.num_tokens() << " tokens";
}

TEST_P(Matmul, IsTheProductOfDecodedWeights) {
  for (const int64_t num_rows : {1, 7, 8, 9, 17, 40}) {
    for (const int64_t num_tokens : {1, 2, 3, 5, 8, 13, 33}) {
      const int64_t num_cols = IsPlain() ? 70 + num_rows : 3 * block();
      ExpectProduct(table(), Weights(num_rows, num_cols), Activations(num_tokens, num_cols));
    }
  }
}

// Columns from a single block to several of the stretches in which many tokens are taken.
TEST_P(Matmul, TakesAnyNumberOfColumns) {
  for (const int64_t num_blocks : {1, 2, 7, 9, 19}) {
    const int64_t num_cols = IsPlain() ? num_blocks * 13 : num_blocks * block();
    for (const int64_t num_tokens : {1, 20}) {
      ExpectProduct(table(), Weights(33, num_cols), Activations(num_tokens, num_cols));
    }
  }
}

// More tokens than a chunk and more rows than a group of panels.
TEST_P(Matmul, TakesManyTokensAndRows) {
  const int64_t num_cols = IsPlain() ? 33 : block();
  ExpectProduct(table(), Weights(20 * kernels().panel_rows + 3, num_cols), Activations(101, num_cols));
}

// A block in three and every block of some tokens has a second term, and no block of others.
bool HasSecondTerm(int64_t token, int64_t block) {
  if (token % 7 == 3) return true;
  return token % 5 != 2 && (token * 11 + block * 5) % 3 == 0;
}

class MatmulOfTwoTerms : public Matmul {};

TEST_P(MatmulOfTwoTerms, AreAdded) {
  for (const int64_t num_rows : {1, 17, 40}) {
    for (const int64_t num_tokens : {1, 2, 3, 4, 7, 9, 20, 55}) {
      for (const int64_t num_blocks : {1, 3, 11}) {
        const int64_t num_cols = num_blocks * block();
        TestActivations x = Activations(num_tokens, num_cols);
        x.AddSecondTerms(table(), HasSecondTerm);
        ExpectProduct(table(), Weights(num_rows, num_cols), x);
      }
    }
  }
}

// Where every block has a second term a product is within their rounding, 1 part in 32,000, of that of the numbers.
TEST_P(MatmulOfTwoTerms, LeaveLittleOfTheNumbers) {
  const int64_t num_cols = 2 * block();
  TestActivations x = Activations(3, num_cols);
  std::vector<double> first = x.Row(1);
  x.AddSecondTerms(table(), [](int64_t, int64_t) { return true; });
  const std::vector<double> both = x.Row(1);
  for (size_t i = 0; i < both.size(); ++i) {
    EXPECT_NEAR(both[i], x.values()[static_cast<size_t>(num_cols) + i], 1.1 / (2.0 * 254.0 * 127.0)) << "column " << i;
  }
  EXPECT_NE(first, both);
}

TEST_P(Matmul, GivesARowTheSameBitsInAnyBatch) {
  const int64_t num_cols = IsPlain() ? 131 : 5 * block();
  ExpectTheSameBitsInAnyBatch(Activations(101, num_cols), num_cols);
}

TEST_P(MatmulOfTwoTerms, GiveARowTheSameBitsInAnyBatch) {
  for (const int64_t num_cols : {5 * block(), 11 * block()}) {
    TestActivations x = Activations(101, num_cols);
    x.AddSecondTerms(table(), HasSecondTerm);
    ExpectTheSameBitsInAnyBatch(std::move(x), num_cols);
  }
}

void Matmul::ExpectTheSameBitsInAnyBatch(TestActivations x, int64_t num_cols) const {
  const int64_t num_rows = 37;
  const int64_t most_tokens = x.num_tokens();
  const PackedWeights packed(table(), Weights(num_rows, num_cols));
  std::vector<float> alone(static_cast<size_t>(most_tokens * num_rows));
  for (int64_t t = 0; t < most_tokens; ++t) {
    MatmulArgs args = packed.Args(x, 1, &alone[static_cast<size_t>(t * num_rows)]);
    args.activations = x.View(t);
    args.second_terms = x.SecondTerms(t);
    packed.Multiply(args);
  }
  for (int64_t num_tokens = 1; num_tokens <= most_tokens; num_tokens += num_tokens < 34 ? 1 : 13) {
    std::vector<float> together(static_cast<size_t>(num_tokens * num_rows));
    packed.Multiply(packed.Args(x, num_tokens, together.data()));
    EXPECT_TRUE(SameBits(together, std::span(alone).first(together.size()))) << num_tokens << " tokens";
  }
}

TEST_P(Matmul, GivesTheSameBitsForAnySplitOfPanels) {
  const int64_t num_rows = 11 * kernels().panel_rows - 5;
  const int64_t num_cols = IsPlain() ? 67 : 2 * block();
  const PackedWeights packed(table(), Weights(num_rows, num_cols));
  for (const int64_t num_tokens : {1, 3, 29}) {
    const TestActivations x = Activations(num_tokens, num_cols);
    std::vector<float> whole(static_cast<size_t>(num_tokens * num_rows));
    packed.Multiply(packed.Args(x, num_tokens, whole.data()));
    for (const int64_t share : {1, 2, 3, 9}) {
      std::vector<float> parts(whole.size());
      const MatmulArgs args = packed.Args(x, num_tokens, parts.data());
      for (int64_t panel = 0; panel < packed.num_panels(); panel += share) {
        kernels().matmul(args, panel, std::min(panel + share, packed.num_panels()));
      }
      EXPECT_TRUE(SameBits(parts, whole)) << num_tokens << " tokens, " << share << " panels at a time";
    }
  }
}

// Bias and old outputs are added after the sum, each with one rounding.
TEST_P(Matmul, AddsBiasAndOldOutputs) {
  const int64_t num_rows = kernels().panel_rows + 3;
  const int64_t num_cols = IsPlain() ? 19 : block();
  const PackedWeights packed(table(), Weights(num_rows, num_cols));
  const MisalignedFloats bias(RandomFloats(11).Vector(num_rows));
  for (const int64_t num_tokens : {1, 2, 18}) {
    const TestActivations x = Activations(num_tokens, num_cols);
    const auto size = static_cast<size_t>(num_tokens * num_rows);
    std::vector<float> product(size);
    packed.Multiply(packed.Args(x, num_tokens, product.data()));
    const std::vector<float> old = RandomFloats(13).Vector(num_tokens * num_rows);
    for (const bool accumulate : {false, true}) {
      for (const bool has_bias : {false, true}) {
        std::vector<float> out = old;
        std::vector<float> want = product;
        MatmulArgs args = packed.Args(x, num_tokens, out.data());
        args.accumulate = accumulate;
        if (has_bias) args.bias = bias.data();
        packed.Multiply(args);
        for (size_t i = 0; i < size; ++i) {
          if (has_bias) want[i] += bias[i % static_cast<size_t>(num_rows)];
          if (accumulate) want[i] = old[i] + want[i];
        }
        EXPECT_TRUE(SameBits(out, want)) << "accumulate " << accumulate << ", bias " << has_bias;
      }
    }
  }
}

TEST_P(Matmul, WritesOutputsAlone) {
  const int64_t num_cols = IsPlain() ? 9 : block();
  for (const int64_t num_rows : {1, 5, 16, 31, 41}) {
    for (const int64_t num_tokens : {1, 3, 14}) {
      const PackedWeights packed(table(), Weights(num_rows, num_cols));
      const TestActivations x = Activations(num_tokens, num_cols);
      const int64_t stride = num_rows + 11;
      constexpr float kPattern = -12345.5f;
      MisalignedFloats out(std::vector<float>(static_cast<size_t>(num_tokens * stride), kPattern));
      MatmulArgs args = packed.Args(x, num_tokens, out.data());
      args.out_stride = stride;
      packed.Multiply(args);
      EXPECT_TRUE(out.MarginsIntact());
      for (int64_t i = 0; i < num_tokens * stride; ++i) {
        if (i % stride < num_rows) continue;
        ASSERT_EQ(out[static_cast<size_t>(i)], kPattern) << "element " << i;
      }
    }
  }
}

// All codes at their largest or smallest and all activations at 127 or -127 of their scale, so that any sum of products
// that is kept in too few bits overflows.
TEST_P(Matmul, TakesExtremeCodes) {
  const int64_t num_cols = IsPlain() ? 40 : 2 * block();
  const int64_t num_tokens = 15;
  std::vector<float> values(static_cast<size_t>(num_tokens * num_cols));
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t token = i / static_cast<size_t>(num_cols);
    const bool negative = token % 3 == 1 || (token % 3 == 2 && i / 2 % 2 == 0);
    values[i] = negative ? -1.0f : 1.0f;
  }
  const TestActivations x = Activations(std::move(values), num_cols);
  // 0x80 and 0x7f are the extremes of Q8_0; no encoder writes -128, and any file may hold it.
  for (const int byte : {0x00, 0xff, 0x80, 0x7f}) {
    TestWeights weights = Weights(19, num_cols);
    weights.SetCodes(static_cast<std::byte>(byte));
    ExpectProduct(table(), weights, x);
  }
}

TEST_P(Matmul, GivesNaNForActivationsThatAreNotFinite) {
  const int64_t num_cols = IsPlain() ? 24 : 2 * block();
  for (const int64_t num_tokens : {2, 17}) {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      std::vector<float> values = RandomFloats(17).Vector(num_tokens * num_cols);
      values[3] = bad;
      if (ReadsFloats()) values[4] = -bad;
      const TestActivations x = Activations(std::move(values), num_cols);
      TestWeights weights = Weights(20, num_cols);
      weights.SetCodes(std::byte{0xff});
      const PackedWeights packed(table(), weights);
      std::vector<float> out(static_cast<size_t>(num_tokens * 20));
      packed.Multiply(packed.Args(x, num_tokens, out.data()));
      for (size_t i = 0; i < out.size(); ++i) {
        if (!ReadsFloats()) {
          EXPECT_EQ(std::isnan(out[i]), i < 20) << "element " << i;
        } else {
          EXPECT_EQ(std::isfinite(out[i]), i >= 20) << "element " << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sets, Matmul, ::testing::ValuesIn(MatmulCases()),
                         [](const auto& test) { return NameOf(test.param); });
INSTANTIATE_TEST_SUITE_P(Sets, MatmulOfTwoTerms, ::testing::ValuesIn(BlockMatmulCases()),
                         [](const auto& test) { return NameOf(test.param); });

}  // namespace
}  // namespace adit::kernels
