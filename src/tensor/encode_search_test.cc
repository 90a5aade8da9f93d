#include "tensor/encode_search.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/safetensors_reader.h"
#include "tensor/encode.h"

namespace adit {
namespace {

constexpr DType kSearched[] = {DType::kQ2_K, DType::kQ3_K,   DType::kQ4_K,  DType::kQ5_K,
                               DType::kQ6_K, DType::kIQ4_NL, DType::kIQ4_XS};
// EncodeFor gives these without a search.
constexpr DType kPlain[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1};
constexpr int64_t kRow = 256;

class EncodeSearch : public testing::TestWithParam<DType> {
 protected:
  std::vector<float> Decoded(const std::vector<std::byte>& blocks, size_t size) const {
    std::vector<float> out(size);
    Traits(GetParam()).decode(blocks.data(), out.data(), static_cast<int64_t>(size));
    return out;
  }
  std::vector<float> RoundTrip(const std::vector<float>& values, const float* importance) const {
    std::vector<std::byte> blocks(RowBytes(GetParam(), static_cast<int64_t>(values.size())));
    SearchEncodeFor(GetParam())(values.data(), importance, blocks.data(), static_cast<int64_t>(values.size()));
    return Decoded(blocks, values.size());
  }
};

// Mean over rows of the error relative to the row's size; each column counts by `importance`, or all alike.
double Error(const std::vector<float>& got, const std::vector<float>& wanted, const std::vector<float>& importance) {
  double sum = 0.0;
  const size_t rows = wanted.size() / kRow;
  for (size_t row = 0; row < rows; ++row) {
    double error = 0.0;
    double size = 0.0;
    for (size_t i = 0; i < kRow; ++i) {
      const double weight = importance.empty() ? 1.0 : importance[i];
      const double x = wanted[row * kRow + i];
      error += weight * (got[row * kRow + i] - x) * (got[row * kRow + i] - x);
      size += weight * x * x;
    }
    sum += std::sqrt(error / size);
  }
  return sum / static_cast<double>(rows);
}

class EncodeSearchOfGgml : public EncodeSearch {};

TEST_P(EncodeSearchOfGgml, IsNoWorse) {
  const auto golden = test::ReadSafetensors(ADIT_SOURCE_DIR "/tests/goldens/ggml_quants/encode_search.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  std::string name = Traits(GetParam()).name;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::vector<float> source = golden->at("source").Floats();
  const std::vector<float> importance = golden->at("importance").Floats();
  std::vector<float> of_each;
  for (size_t row = 0; row < source.size() / kRow; ++row) {
    of_each.insert(of_each.end(), importance.begin(), importance.end());
  }
  const std::vector<float> plain = Decoded(golden->at(name + ".plain").bytes, source.size());
  const std::vector<float> weighted = Decoded(golden->at(name + ".weighted").bytes, source.size());
  EXPECT_LT(Error(RoundTrip(source, nullptr), source, {}), 1.0 * Error(plain, source, {}));
  EXPECT_LT(Error(RoundTrip(source, of_each.data()), source, importance), 1.01 * Error(weighted, source, importance));
}

TEST_P(EncodeSearch, ColumnsThatCountAreNearer) {
  std::vector<float> values(8 * kRow);
  std::vector<float> importance(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.7f * static_cast<float>(i)) + 0.3f * std::cos(2.1f * static_cast<float>(i * i % 977));
    importance[i] = i % 5 == 0 ? 1.0f : 0.001f;
  }
  const auto error = [&](const std::vector<float>& got) {
    double sum = 0.0;
    for (size_t i = 0; i < values.size(); i += 5) sum += (got[i] - values[i]) * (got[i] - values[i]);
    return sum;
  };
  EXPECT_LT(error(RoundTrip(values, importance.data())), 0.9 * error(RoundTrip(values, nullptr)));
}

TEST_P(EncodeSearch, ZerosStayZeros) {
  for (const float x : RoundTrip(std::vector<float>(kRow), nullptr)) EXPECT_EQ(x, 0.0f);
}

TEST_P(EncodeSearch, ConstantsOfEitherSignSurvive) {
  for (const float value : {3.0f, -3.0f, 0.02f}) {
    for (const float x : RoundTrip(std::vector<float>(kRow, value), nullptr)) {
      EXPECT_NEAR(x, value, 0.01f * std::abs(value));
    }
  }
}

TEST_P(EncodeSearch, InfinityAndNanSpoilTheirBlockAlone) {
  const auto block = static_cast<size_t>(Traits(GetParam()).block_elements);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> values(2 * kRow, 1.0f);
    values[kRow + 3] = bad;
    const std::vector<float> got = RoundTrip(values, nullptr);
    for (size_t i = 0; i < kRow; ++i) EXPECT_NEAR(got[i], 1.0f, 0.01f);
    for (size_t i = kRow; i < kRow + block; ++i) EXPECT_TRUE(std::isnan(got[i])) << i;
  }
}

TEST_P(EncodeSearch, HugeAndTinyNumbersEndInsideTheType) {
  for (const float size : {1e30f, 3e38f, 1e-30f, 1e-45f}) {
    std::vector<float> values(kRow);
    for (size_t i = 0; i < values.size(); ++i) values[i] = i % 3 == 0 ? size : -size;
    for (const float x : RoundTrip(values, nullptr)) EXPECT_FALSE(std::isnan(x) && size < 1.0f) << size;
  }
}

TEST_P(EncodeSearchOfGgml, IsWhatEncodeForGives) {
  std::vector<float> values(kRow);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  std::vector<std::byte> a(RowBytes(GetParam(), kRow));
  std::vector<std::byte> b(a.size());
  SearchEncodeFor(GetParam())(values.data(), nullptr, a.data(), kRow);
  EncodeFor(GetParam())(values.data(), b.data(), kRow);
  EXPECT_EQ(a, b);
}

class EncodeSearchOfPlain : public EncodeSearch {};

TEST_P(EncodeSearchOfPlain, ComesNearerThanWithoutASearch) {
  std::vector<float> values(64 * kRow);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(0.7f * static_cast<float>(i)) * std::cos(2.1f * static_cast<float>(i * i % 977));
  }
  std::vector<std::byte> blocks(RowBytes(GetParam(), static_cast<int64_t>(values.size())));
  EncodeFor(GetParam())(values.data(), blocks.data(), static_cast<int64_t>(values.size()));
  EXPECT_LT(Error(RoundTrip(values, nullptr), values, {}), 0.99 * Error(Decoded(blocks, values.size()), values, {}));
}

const auto kTypeName = [](const auto& test) { return std::string(Traits(test.param).name); };

INSTANTIATE_TEST_SUITE_P(Types, EncodeSearch, testing::ValuesIn(kSearched), kTypeName);
INSTANTIATE_TEST_SUITE_P(PlainTypes, EncodeSearch, testing::ValuesIn(kPlain), kTypeName);
INSTANTIATE_TEST_SUITE_P(Types, EncodeSearchOfGgml, testing::ValuesIn(kSearched), kTypeName);
INSTANTIATE_TEST_SUITE_P(Types, EncodeSearchOfPlain, testing::ValuesIn(kPlain), kTypeName);

TEST(EncodeSearchFor, OtherTypesHaveNone) { EXPECT_EQ(SearchEncodeFor(DType::kQ8_0), nullptr); }

}  // namespace
}  // namespace adit
