#include "formats/retyped_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "support/gguf_builder.h"
#include "tensor/encode.h"

namespace adit::formats {
namespace {

using testing::HasSubstr;

std::vector<float> Wave(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) * 0.7f);
  return values;
}

// The bytes of a small model, whose matrix has rows of 64 and 40 rows.
std::vector<std::byte> SmallModel() {
  return test::GgufBuilder()
      .AddTensorF32("token_embd.weight", {4, 64}, Wave(256))
      .AddTensorF32("blk.0.attn_q.weight", {40, 64}, Wave(2560))
      .AddTensorF32("blk.0.attn_k.weight", {2, 24}, Wave(48))
      .AddTensorF32("blk.0.attn_norm.weight", {64}, Wave(64))
      .AddTensorF32("blk.0.attn_q_norm.weight", {2, 32}, Wave(64))
      .Build();
}

std::unique_ptr<GgufFile> Retype(const std::vector<std::byte>& bytes, const WeightTypes& types) {
  auto file = GgufFile::Parse(bytes, "x");
  EXPECT_TRUE(file.ok()) << file.status().ToString();
  auto retyped = Retyped(*std::move(file), types);
  EXPECT_TRUE(retyped.ok()) << retyped.status().ToString();
  return *std::move(retyped);
}

TEST(RetypedModel, QuantisesMatricesAndLeavesTheRest) {
  const auto bytes = SmallModel();
  const auto model = Retype(bytes, TypesForQuantization(DType::kQ4_0));
  const TensorInfo& q = *model->Find("blk.0.attn_q.weight");
  EXPECT_EQ(q.dtype, DType::kQ4_0);
  EXPECT_TRUE(q.is_computed());
  EXPECT_EQ(q.size_bytes(), 40u * 2 * 18);
  // Rows of 24 are no whole number of blocks.
  for (const char* name :
       {"token_embd.weight", "blk.0.attn_k.weight", "blk.0.attn_norm.weight", "blk.0.attn_q_norm.weight"}) {
    EXPECT_EQ(model->Find(name)->dtype, DType::kF32) << name;
    EXPECT_FALSE(model->Find(name)->is_computed()) << name;
  }
}

TEST(RetypedModel, ATiedOutputMatrixGetsRowsOfItsOwn) {
  const auto bytes = SmallModel();
  const auto model = Retype(bytes, TypesForQuantization(DType::kQ4_0));
  const TensorInfo& output = *model->Find("output.weight");
  EXPECT_EQ(output.dtype, DType::kQ8_0);
  EXPECT_EQ(output.shape[0], 4);
  EXPECT_EQ(Retype(bytes, {.matrices = DType::kF32})->Find("output.weight"), nullptr);
}

TEST(RetypedModel, AnyRowsAreThoseOfTheWhole) {
  const auto bytes = SmallModel();
  const std::vector<float> values = Wave(2560);
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kQ8_0, DType::kQ4_0, DType::kQ5_1}) {
    const auto model = Retype(bytes, {.matrices = dtype});
    const TensorInfo& q = *model->Find("blk.0.attn_q.weight");
    std::vector<std::byte> wanted(RowBytes(dtype, 2560));
    EncodeFor(dtype)(values.data(), wanted.data(), 2560);
    for (const auto& [first, count] : {std::pair{0, 40}, std::pair{7, 1}, std::pair{13, 27}}) {
      std::vector<std::byte> got(static_cast<size_t>(count) * q.row_bytes());
      model->ReadRows(q, first, count, got.data());
      EXPECT_TRUE(std::equal(got.begin(), got.end(), wanted.begin() + static_cast<ptrdiff_t>(first * q.row_bytes())));
    }
  }
}

TEST(RetypedModel, AWholeFileHasVectorsInFloatsAndAQuantisedEmbedding) {
  const auto bytes = SmallModel();
  WeightTypes types = TypesForQuantization(DType::kQ4_0);
  types.whole_file = true;
  const auto model = Retype(bytes, types);
  EXPECT_EQ(model->Find("token_embd.weight")->dtype, DType::kQ8_0);
  EXPECT_EQ(model->Find("blk.0.attn_norm.weight")->dtype, DType::kF32);
  EXPECT_EQ(model->Find("blk.0.attn_q_norm.weight")->dtype, DType::kF32);
  EXPECT_EQ(model->Find("output.weight"), nullptr);
}

TEST(RetypedModel, QuantisedTensorsStay) {
  const std::vector<std::byte> blocks(40 * 2 * 34);
  const auto bytes = test::GgufBuilder().AddTensor("blk.0.attn_q.weight", DType::kQ8_0, {40, 64}, blocks).Build();
  const auto model = Retype(bytes, {.matrices = DType::kQ4_0});
  EXPECT_EQ(model->Find("blk.0.attn_q.weight")->dtype, DType::kQ8_0);
}

TEST(RetypedModel, RowsThatDoNotFitGetBlocksThatDo) {
  const auto bytes = SmallModel();
  const std::pair<DType, DType> substitutes[] = {{DType::kQ2_K, DType::kIQ4_NL}, {DType::kQ3_K, DType::kIQ4_NL},
                                                 {DType::kQ4_K, DType::kQ5_0},   {DType::kQ5_K, DType::kQ5_1},
                                                 {DType::kQ6_K, DType::kQ8_0},   {DType::kIQ4_XS, DType::kIQ4_NL}};
  for (const auto& [wanted, given] : substitutes) {
    EXPECT_EQ(Retype(bytes, {.matrices = wanted})->Find("blk.0.attn_q.weight")->dtype, given) << Traits(wanted).name;
  }
  const auto wide = test::GgufBuilder().AddTensorF32("blk.0.attn_q.weight", {10, 256}, Wave(2560)).Build();
  EXPECT_EQ(Retype(wide, {.matrices = DType::kQ4_K})->Find("blk.0.attn_q.weight")->dtype, DType::kQ4_K);
}

TEST(RetypedModel, RefusesTypesThatItCannotMake) {
  const auto bytes = SmallModel();
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    auto file = GgufFile::Parse(bytes, "x");
    const auto retyped = Retyped(*std::move(file), {.matrices = dtype});
    EXPECT_EQ(retyped.ok(), EncodeFor(dtype) != nullptr) << Traits(dtype).name;
    if (retyped.ok()) continue;
    EXPECT_THAT(retyped.status().message(), HasSubstr(std::string("type ") + Traits(dtype).name));
  }
}

}  // namespace
}  // namespace adit::formats
