#include "models/hf_quantized_matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "support/gguf_builder.h"
#include "support/safetensors_builder.h"
#include "tensor/half.h"

namespace adit::models {
namespace {

using testing::HasSubstr;
using Method = HfQuantization::Method;

constexpr int64_t kRows = 64;
constexpr int64_t kCols = 96;
constexpr int64_t kGroup = 32;

// Numbers of `bits` bits one after another in words, as GPTQ and compressed-tensors pack them.
std::vector<uint32_t> PackBits(const std::vector<int>& numbers, int bits) {
  std::vector<uint32_t> words((numbers.size() * static_cast<size_t>(bits) + 31) / 32);
  for (size_t i = 0; i < numbers.size(); ++i) {
    for (size_t b = 0; b < static_cast<size_t>(bits); ++b) {
      const size_t at = i * static_cast<size_t>(bits) + b;
      words[at / 32] |= static_cast<uint32_t>(numbers[i] >> b & 1) << (at % 32);
    }
  }
  return words;
}

// A GPTQ module "m" whose codes, zero points and scales are known.
class GptqModule : public testing::Test {
 protected:
  GptqModule() : folder_(testing::TempDir() + "gptq_" + testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~GptqModule() override { std::filesystem::remove_all(folder_); }

  int Code(int64_t row, int64_t col) const { return static_cast<int>((row * 7 + col * 5 + row * col) % (1 << bits_)); }
  int Zero(int64_t row, int64_t group) const {
    return bits_ == 8 ? 128 : static_cast<int>((row + group) % (1 << bits_)) + 1;
  }
  float Scale(int64_t row, int64_t group) const { return 0.25f + 0.125f * static_cast<float>((row + 3 * group) % 5); }
  float Value(int64_t row, int64_t col) const {
    const int64_t group = order_.empty() ? col / kGroup : order_[static_cast<size_t>(col)];
    return Scale(row, group) * static_cast<float>(Code(row, col) - Zero(row, group));
  }

  // What quantisers write, but for what a test changes.
  void Write() const {
    const int64_t groups = kCols / kGroup;
    const auto words = static_cast<size_t>(kCols * bits_ / 32);
    std::vector<uint32_t> codes(words * kRows);
    for (int64_t row = 0; row < kRows; ++row) {
      std::vector<int> column;
      for (int64_t col = 0; col < kCols; ++col) column.push_back(Code(row, col));
      const std::vector<uint32_t> packed = PackBits(column, bits_);
      for (size_t i = 0; i < words; ++i) codes[i * kRows + static_cast<size_t>(row)] = packed[i];
    }
    std::vector<uint32_t> zeros;
    std::vector<uint16_t> scales;
    for (int64_t group = 0; group < groups; ++group) {
      std::vector<int> numbers;
      for (int64_t row = 0; row < kRows; ++row) {
        numbers.push_back(Zero(row, group) - 1);
        scales.push_back(FloatToHalf(Scale(row, group)));
      }
      const std::vector<uint32_t> packed = PackBits(numbers, bits_);
      zeros.insert(zeros.end(), packed.begin(), packed.end());
    }
    if (bad_scale_) scales[5] = FloatToHalf(std::numeric_limits<float>::quiet_NaN());
    test::SafetensorsBuilder builder;
    builder.Add("m.qweight", "I32", {static_cast<int64_t>(words), kRows}, std::as_bytes(std::span(codes)));
    builder.Add("m.qzeros", "I32", {groups, kRows * bits_ / 32}, std::as_bytes(std::span(zeros)));
    if (with_scales_) builder.Add("m.scales", "F16", {groups, kRows}, std::as_bytes(std::span(scales)));
    if (!order_.empty()) builder.Add("m.g_idx", "I32", {kCols}, std::as_bytes(std::span(order_)));
    test::WriteFile(folder_ + "/model.safetensors", builder.Build());
  }

  Result<HfQuantizedMatrix> Make() {
    Write();
    weights_ = *formats::SafetensorsFolder::Open(folder_);
    return HfQuantizedMatrix::Make(
        {.method = Method::kGptq, .bits = bits_, .group_size = group_, .zeros_less_one = true}, "m", weights_);
  }

  void ExpectValues(DType dtype) {
    const auto matrix = Make();
    ASSERT_TRUE(matrix.ok()) << matrix.status().ToString();
    EXPECT_EQ(matrix->dtype(), dtype);
    ASSERT_EQ(matrix->rows(), kRows);
    ASSERT_EQ(matrix->cols(), kCols);
    const std::vector<int64_t> rows = {3, 0, 63, 17};
    std::vector<std::byte> bytes(rows.size() * RowBytes(dtype, kCols));
    matrix->ReadRows(rows, bytes.data());
    std::vector<float> got(rows.size() * kCols);
    Traits(dtype).decode(bytes.data(), got.data(), static_cast<int64_t>(got.size()));
    for (size_t i = 0; i < rows.size(); ++i) {
      for (int64_t col = 0; col < kCols; ++col) {
        EXPECT_EQ(got[i * kCols + static_cast<size_t>(col)], Value(rows[i], col)) << rows[i] << " " << col;
      }
    }
  }

  std::string folder_;
  int bits_ = 4;
  int64_t group_ = kGroup;
  bool with_scales_ = true;
  bool bad_scale_ = false;
  std::vector<int32_t> order_;
  formats::SafetensorsFolder weights_;
};

TEST_F(GptqModule, OfFourBitsIsInt4) { ExpectValues(DType::kInt4); }

TEST_F(GptqModule, OfTwoAndThreeBitsIsInt4) {
  for (const int bits : {2, 3}) {
    bits_ = bits;
    ExpectValues(DType::kInt4);
  }
}

TEST_F(GptqModule, OfEightBitsIsInt8) {
  bits_ = 8;
  ExpectValues(DType::kInt8);
}

TEST_F(GptqModule, GroupsInAnotherOrderAreWidened) {
  for (int32_t col = 0; col < kCols; ++col) order_.push_back(col % 3);
  ExpectValues(DType::kF32);
}

TEST_F(GptqModule, GroupsInAnotherOrderCanBeReadOneAfterAnother) {
  for (const int bits : {2, 3, 4, 8}) {
    bits_ = bits;
    // Groups of two blocks, one and none, mixed.
    order_.assign(kCols, 0);
    for (size_t i = 0; i < 32; ++i) order_[(i * 37 + 5) % kCols] = 1;
    const auto matrix = Make();
    ASSERT_TRUE(matrix.ok()) << matrix.status().ToString();
    EXPECT_EQ(matrix->dtype(), DType::kF32);
    ASSERT_EQ(matrix->reordered_dtype(), bits == 8 ? DType::kInt8 : DType::kInt4);
    const std::span<const int32_t> order = matrix->column_order();
    ASSERT_EQ(order.size(), static_cast<size_t>(kCols));
    std::vector<std::byte> blocks(RowBytes(matrix->reordered_dtype(), kCols));
    std::vector<float> values(kCols);
    for (int64_t row = 0; row < kRows; ++row) {
      matrix->ReadReordered(std::vector<int64_t>{row}, blocks.data());
      Traits(matrix->reordered_dtype()).decode(blocks.data(), values.data(), kCols);
      for (size_t k = 0; k < values.size(); ++k) ASSERT_EQ(values[k], Value(row, order[k])) << row << " " << k;
    }
  }
}

TEST_F(GptqModule, GroupsThatAreNoWholeNumberOfBlocksAreNotReadSo) {
  order_.assign(kCols, 0);
  order_[3] = 1;
  const auto matrix = Make();
  ASSERT_TRUE(matrix.ok());
  EXPECT_TRUE(matrix->column_order().empty());
}

TEST_F(GptqModule, GroupsInOrderAreJustThat) {
  for (int32_t col = 0; col < kCols; ++col) order_.push_back(col / static_cast<int32_t>(kGroup));
  ExpectValues(DType::kInt4);
}

TEST_F(GptqModule, BrokenOnesAreNamed) {
  group_ = 96;
  EXPECT_THAT(Make().status().message(), HasSubstr("tensor 'm.scales' is [3, 64], wanted [1, 64]"));
  group_ = kGroup;
  with_scales_ = false;
  EXPECT_THAT(Make().status().message(), HasSubstr("tensor 'm.scales' is missing"));
  with_scales_ = true;
  bad_scale_ = true;
  EXPECT_THAT(Make().status().message(), HasSubstr("tensor 'm.scales' has the scale nan"));
  bad_scale_ = false;
  order_.assign(kCols, 0);
  order_[7] = 3;
  EXPECT_THAT(Make().status().message(), HasSubstr("puts column 7 into group 3 of 3"));
}

class QuantizationConfig : public testing::Test {
 protected:
  static Status Read(const std::string& text) {
    const auto json = formats::Json::Parse(R"({"quantization_config": )" + text + "}", "c");
    EXPECT_TRUE(json.ok()) << json.status().ToString();
    return ReadHfQuantization(formats::JsonFields(*json, "c")).status();
  }
};

TEST_F(QuantizationConfig, RefusesByNameWhatItDoesNotRead) {
  EXPECT_THAT(Read(R"({"quant_method": "quip"})").message(), HasSubstr("quantised by 'quip'"));
  EXPECT_THAT(Read(R"({"quant_method": "gptq", "bits": 5})").message(), HasSubstr("bits '5'"));
  EXPECT_THAT(Read(R"({"quant_method": "gptq", "bits": 4, "group_size": 48})").message(), HasSubstr("group_size 48"));
  EXPECT_THAT(Read(R"({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"})").message(),
              HasSubstr("checkpoint_format 'marlin'"));
  EXPECT_THAT(Read(R"({"quant_method": "awq", "bits": 4, "version": "gemv"})").message(), HasSubstr("version 'gemv'"));
  EXPECT_THAT(Read(R"({"quant_method": "fp8", "fmt": "e3m4"})").message(), HasSubstr("fmt 'e3m4'"));
  EXPECT_THAT(Read(R"({"quant_method": "compressed-tensors", "format": "marlin-24", "config_groups":
                       {"a": {"weights": {"num_bits": 8}}}})")
                  .message(),
              HasSubstr("format 'marlin-24'"));
  EXPECT_THAT(Read(R"({"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups":
                       {"a": {"weights": {"num_bits": 4}}, "b": {"weights": {"num_bits": 8}}}})")
                  .message(),
              HasSubstr("2 groups of modules"));
  EXPECT_TRUE(Read(R"({"quant_method": "gptq", "bits": 3, "group_size": -1})").ok());
}

}  // namespace
}  // namespace adit::models
