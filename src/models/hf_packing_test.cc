#include "models/hf_packing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "formats/json_fields.h"
#include "formats/json_text.h"
#include "formats/safetensors.h"
#include "models/hf_quantized_matrix.h"
#include "tensor/encode_groups.h"
#include "tensor/fp8.h"

namespace adit::models {
namespace {

using testing::HasSubstr;
using PackMethod = HfQuantization::Method;

struct PackingCase {
  const char* name;
  HfPacking packing;
  GroupScales groups;
};

HfPacking PackingOf(PackMethod method, int bits, int64_t group_size, bool symmetric = true) {
  return {.quantization = {.method = method,
                           .bits = bits,
                           .group_size = group_size,
                           .zeros_less_one = method == PackMethod::kGptq},
          .symmetric = symmetric};
}

std::vector<PackingCase> PackingCases() {
  std::vector<PackingCase> cases;
  for (const int bits : {2, 3, 4, 8}) {
    static constexpr const char* kNames[] = {"", "", "gptq2", "gptq3", "gptq4", "", "", "", "gptq8"};
    cases.push_back({kNames[bits], PackingOf(PackMethod::kGptq, bits, 64), {.bits = bits, .group_size = 64}});
  }
  cases.push_back({"gptq_asymmetric",
                   PackingOf(PackMethod::kGptq, 4, 32, /*symmetric=*/false),
                   {.bits = 4, .group_size = 32, .symmetric = false, .least_zero = 1}});
  cases.push_back({"gptq_rows", PackingOf(PackMethod::kGptq, 4, 0), {.bits = 4, .group_size = 0}});
  cases.push_back({"awq",
                   PackingOf(PackMethod::kAwq, 4, 64, /*symmetric=*/false),
                   {.bits = 4, .group_size = 64, .symmetric = false}});
  cases.push_back({"w4a16", PackingOf(PackMethod::kPackedInt, 4, 64), {.bits = 4, .group_size = 64}});
  cases.push_back({"w4a16_asymmetric",
                   PackingOf(PackMethod::kPackedInt, 4, 64, /*symmetric=*/false),
                   {.bits = 4, .group_size = 64, .symmetric = false}});
  cases.push_back(
      {"w8a16", PackingOf(PackMethod::kPackedInt, 8, 64), {.bits = 8, .group_size = 64, .half_scales = false}});
  cases.push_back({"w8a8", PackingOf(PackMethod::kInt8, 8, 0), {.bits = 8, .group_size = 0, .half_scales = false}});
  return cases;
}

constexpr int64_t kPackRows = 64;
constexpr int64_t kPackCols = 192;
const HfMatrix kPackMatrix = {.module = "model.layers.0.mlp.up_proj", .rows = kPackRows, .cols = kPackCols};

std::vector<float> RandomMatrix() {
  std::mt19937 random(11);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(kPackRows * kPackCols));
  for (float& value : values) value = 0.05f * normal(random);
  return values;
}

class HfPackingTest : public testing::TestWithParam<PackingCase> {
 protected:
  // Tests run beside each other, and their names hold slashes.
  HfPackingTest() : folder_(testing::TempDir() + "hf_packing_" + std::to_string(getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~HfPackingTest() override { std::filesystem::remove_all(folder_); }

  static std::vector<std::byte> Blocks(const GroupScales& groups, const std::vector<float>& values) {
    const size_t row_bytes = RowBytes(groups.dtype(), kPackCols);
    std::vector<std::byte> blocks(row_bytes * static_cast<size_t>(kPackRows));
    for (int64_t row = 0; row < kPackRows; ++row) {
      EncodeGroups(groups, values.data() + row * kPackCols, nullptr,
                   blocks.data() + static_cast<size_t>(row) * row_bytes, kPackCols);
    }
    return blocks;
  }
  void WriteFolder(const HfPacking& packing, const std::vector<std::vector<std::byte>>& parts) const {
    const auto plans = HfPackedPlans(packing, kPackMatrix);
    ASSERT_TRUE(plans.ok()) << plans.status().ToString();
    auto writer = formats::ModelFolderWriter::Create(folder_, *plans);
    ASSERT_TRUE(writer.ok());
    ASSERT_EQ(parts.size(), plans->size());
    for (size_t i = 0; i < parts.size(); ++i) {
      ASSERT_EQ(parts[i].size(), (*plans)[i].size_bytes()) << (*plans)[i].name;
      ASSERT_TRUE(writer->Append(parts[i]).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  // What our reader makes of config.json's member.
  static HfQuantization ReadBack(const HfPacking& packing) {
    const std::vector<std::string> unquantized = {"lm_head"};
    const formats::Json config(
        formats::Json::Object{{"quantization_config", HfQuantizationConfig(packing, unquantized)}});
    const auto read = ReadHfQuantization(formats::JsonFields(config, "config.json"));
    EXPECT_TRUE(read.ok()) << read.status().ToString();
    return read.ok() && *read ? **read : HfQuantization();
  }

  std::string folder_;
};

TEST_P(HfPackingTest, IsReadAsTheSameBlocks) {
  const std::vector<std::byte> blocks = Blocks(GetParam().groups, RandomMatrix());
  const auto parts = PackHfMatrix(GetParam().packing, kPackMatrix, blocks);
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  WriteFolder(GetParam().packing, *parts);
  const auto weights = formats::SafetensorsFolder::Open(folder_);
  ASSERT_TRUE(weights.ok());
  const auto matrix = HfQuantizedMatrix::Make(ReadBack(GetParam().packing), kPackMatrix.module, *weights);
  ASSERT_TRUE(matrix.ok()) << matrix.status().ToString();
  ASSERT_EQ(matrix->dtype(), GetParam().groups.dtype());
  std::vector<int64_t> rows(kPackRows);
  std::iota(rows.begin(), rows.end(), int64_t{0});
  std::vector<std::byte> back(blocks.size());
  matrix->ReadRows(rows, back.data());
  EXPECT_EQ(back, blocks);
}

TEST_P(HfPackingTest, NamesTheModuleWhoseWeightsAreNotFinite) {
  std::vector<float> values = RandomMatrix();
  values[5 * kPackCols + 7] = std::numeric_limits<float>::quiet_NaN();
  const auto parts = PackHfMatrix(GetParam().packing, kPackMatrix, Blocks(GetParam().groups, values));
  EXPECT_EQ(parts.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(parts.status().message(), HasSubstr("up_proj.weight': row 5"));
}

INSTANTIATE_TEST_SUITE_P(All, HfPackingTest, testing::ValuesIn(PackingCases()),
                         [](const auto& test) { return std::string(test.param.name); });

class Fp8PackingTest : public HfPackingTest {
 protected:
  static float ScaleAt(const formats::SafetensorsFolder& weights, int64_t row, int64_t col) {
    const HfPacking& packing = GetParam().packing;
    const int64_t block = packing.quantization.block_rows;
    const char* const part = block > 0 ? ".weight_scale_inv" : ".weight_scale";
    const auto& data = weights.Find(kPackMatrix.module + part).tensor->data;
    const int64_t blocks_per_row = block > 0 ? (kPackCols + block - 1) / block : 1;
    const int64_t index = packing.scale_per_tensor ? 0 : block > 0 ? row / block * blocks_per_row + col / block : row;
    float scale = 0.0f;
    std::memcpy(&scale, data.data() + static_cast<size_t>(index) * sizeof(scale), sizeof(scale));
    return scale;
  }
};

TEST_P(Fp8PackingTest, IsWithinHalfAStepOfTheWeights) {
  std::vector<float> values = RandomMatrix();
  // A row of zeros has the scale 0.
  std::fill_n(values.begin() + 9 * kPackCols, kPackCols, 0.0f);
  std::vector<std::byte> rows(values.size() * sizeof(float));
  std::memcpy(rows.data(), values.data(), rows.size());
  const auto parts = PackHfMatrix(GetParam().packing, kPackMatrix, rows);
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  WriteFolder(GetParam().packing, *parts);
  const auto weights = formats::SafetensorsFolder::Open(folder_);
  const auto matrix = HfQuantizedMatrix::Make(ReadBack(GetParam().packing), kPackMatrix.module, *weights);
  ASSERT_TRUE(matrix.ok()) << matrix.status().ToString();
  ASSERT_EQ(matrix->dtype(), DType::kFp8);
  const bool e5m2 = GetParam().packing.quantization.e5m2;
  const auto* const codes = weights->Find(kPackMatrix.module + ".weight").tensor;
  std::vector<float> back(kPackCols);
  std::vector<std::byte> blocks(RowBytes(DType::kFp8, kPackCols));
  for (int64_t row = 0; row < kPackRows; ++row) {
    matrix->ReadRows(std::vector<int64_t>{row}, blocks.data());
    Traits(DType::kFp8).decode(blocks.data(), back.data(), kPackCols);
    for (int64_t col = 0; col < kPackCols; ++col) {
      const float want = values[static_cast<size_t>(row * kPackCols + col)];
      const float got = back[static_cast<size_t>(col)];
      // Three or two bits of mantissa, and a least step of the scale's 2^-9.
      EXPECT_NEAR(got, want, std::abs(want) / (e5m2 ? 8.0f : 16.0f) + 1e-6f) << row << ", " << col;
      const auto code = std::to_integer<uint8_t>(codes->data[static_cast<size_t>(row * kPackCols + col)]);
      const float number = e5m2 ? E5M2ToFloat(code) : E4M3ToFloat(code);
      // What is stored, times the scale, but for codes of E5M2 far below the largest of their block, which is near 0.2.
      const float stored = number * ScaleAt(*weights, row, col);
      EXPECT_NEAR(got, stored, e5m2 && std::abs(stored) < 0x1p-16f ? 0x1p-20f : 0.0f) << row << ", " << col;
    }
  }
}

TEST_P(Fp8PackingTest, KeepsScalesAndNumbersThatWereChosenBefore) {
  if (GetParam().packing.quantization.e5m2) GTEST_SKIP() << "blocks of Fp8 are E4M3";
  // Nothing comes near the largest number, so that scales could not be told from the weights.
  std::vector<BlockFp8> blocks(static_cast<size_t>(kPackRows * kPackCols / 32));
  std::mt19937 random(12);
  for (size_t b = 0; b < blocks.size(); ++b) {
    const bool has_rows = !GetParam().packing.scale_per_tensor && GetParam().packing.quantization.block_rows == 0;
    blocks[b].d = has_rows ? 0.01f * static_cast<float>(1 + b / (kPackCols / 32)) : 0.037f;
    for (uint8_t& code : blocks[b].qs) code = static_cast<uint8_t>(random() % 2 * 128 + random() % 0x70);
  }
  std::vector<std::byte> bytes(blocks.size() * sizeof(BlockFp8));
  std::memcpy(bytes.data(), blocks.data(), bytes.size());
  HfMatrix matrix = kPackMatrix;
  matrix.fp8_rows = DType::kFp8;
  const auto parts = PackHfMatrix(GetParam().packing, matrix, bytes);
  ASSERT_TRUE(parts.ok()) << parts.status().ToString();
  WriteFolder(GetParam().packing, *parts);
  const auto weights = formats::SafetensorsFolder::Open(folder_);
  for (int64_t row = 0; row < kPackRows; ++row) {
    EXPECT_EQ(ScaleAt(*weights, row, 40), blocks[static_cast<size_t>(row * (kPackCols / 32) + 1)].d) << row;
  }
  const auto* const codes = weights->Find(matrix.module + ".weight").tensor;
  for (size_t i = 0; i < codes->data.size(); ++i) {
    const uint8_t wanted = blocks[i / 32].qs[i % 32];
    // Zeros lose their sign.
    EXPECT_EQ(std::to_integer<uint8_t>(codes->data[i]) & 0x7f, wanted & 0x7f) << i;
    EXPECT_TRUE((wanted & 0x7f) == 0 || std::to_integer<uint8_t>(codes->data[i]) == wanted) << i;
  }
}

TEST_P(Fp8PackingTest, NamesTheModuleOfBlocksThatAreNotFinite) {
  if (GetParam().packing.quantization.e5m2) GTEST_SKIP() << "blocks of Fp8 are E4M3";
  std::vector<BlockFp8> blocks(static_cast<size_t>(kPackRows * kPackCols / 32));
  blocks[2 * kPackCols / 32].d = std::numeric_limits<float>::quiet_NaN();
  std::vector<std::byte> bytes(blocks.size() * sizeof(BlockFp8));
  std::memcpy(bytes.data(), blocks.data(), bytes.size());
  HfMatrix matrix = kPackMatrix;
  matrix.fp8_rows = DType::kFp8;
  EXPECT_THAT(PackHfMatrix(GetParam().packing, matrix, bytes).status().message(),
              HasSubstr("row 2 has weights that are not finite"));
}

TEST_P(Fp8PackingTest, NamesTheModuleWhoseWeightsAreNotFinite) {
  std::vector<float> values = RandomMatrix();
  values[3] = std::numeric_limits<float>::infinity();
  std::vector<std::byte> rows(values.size() * sizeof(float));
  std::memcpy(rows.data(), values.data(), rows.size());
  EXPECT_THAT(PackHfMatrix(GetParam().packing, kPackMatrix, rows).status().message(),
              HasSubstr("row 0 has weights that are not finite"));
}

std::vector<PackingCase> Fp8Cases() {
  HfPacking channel = PackingOf(PackMethod::kFp8, 8, 0);
  HfPacking tensor = channel;
  tensor.scale_per_tensor = true;
  HfPacking block = channel;
  block.quantization.block_rows = block.quantization.block_cols = 128;
  HfPacking e5m2 = block;
  e5m2.quantization.e5m2 = true;
  HfPacking e5m2_channel = channel;
  HfPacking e5m2_tensor = tensor;
  e5m2_channel.quantization.e5m2 = e5m2_tensor.quantization.e5m2 = true;
  return {{"channel", channel, {}},           {"tensor", tensor, {}},          {"block", block, {}}, {"e5m2", e5m2, {}},
          {"e5m2_channel", e5m2_channel, {}}, {"e5m2_tensor", e5m2_tensor, {}}};
}
INSTANTIATE_TEST_SUITE_P(All, Fp8PackingTest, testing::ValuesIn(Fp8Cases()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(HfPackedPlans, NameTheMatrixThatDoesNotFit) {
  const HfMatrix matrix = {.module = "m", .rows = 64, .cols = 160};
  EXPECT_THAT(HfPackedPlans(PackingOf(PackMethod::kPackedInt, 4, 128), matrix).status().message(),
              HasSubstr("'m.weight': 160 columns are no whole number of groups of 128"));
  const HfMatrix odd = {.module = "m", .rows = 9, .cols = 128};
  EXPECT_THAT(HfPackedPlans(PackingOf(PackMethod::kAwq, 4, 128), odd).status().message(), HasSubstr("9 rows"));
}

}  // namespace
}  // namespace adit::models
