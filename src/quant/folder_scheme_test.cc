#include "quant/folder_scheme.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace adit::quant {
namespace {

using testing::HasSubstr;
using FolderMethod = models::HfQuantization::Method;

std::string Refused(const FolderRequest& request) { return FolderSchemeOf(request).status().message(); }

TEST(FolderScheme, HasTheUsualFormatOfEachType) {
  EXPECT_EQ(FolderSchemeOf({.type = "w4a16"})->packing.quantization.method, FolderMethod::kPackedInt);
  EXPECT_EQ(FolderSchemeOf({.type = "W3A16"})->packing.quantization.method, FolderMethod::kGptq);
  EXPECT_EQ(FolderSchemeOf({.type = "W8A8"})->packing.quantization.method, FolderMethod::kInt8);
  EXPECT_EQ(FolderSchemeOf({.type = "FP8"})->packing.quantization.method, FolderMethod::kFp8);
  EXPECT_EQ(FolderSchemeOf({.type = "fp8_block"})->packing.quantization.block_rows, 128);
  EXPECT_FALSE(IsFolderType("Q4_0"));
}

TEST(FolderScheme, GivesScalesThatTheFormatCanHold) {
  const auto gptq = FolderSchemeOf({.type = "W4A16", .format = "gptq", .asymmetric = true});
  ASSERT_TRUE(gptq.ok());
  EXPECT_FALSE(gptq->groups->symmetric);
  // Zero points are stored less one.
  EXPECT_EQ(gptq->groups->least_zero, 1);
  const auto awq = FolderSchemeOf({.type = "W4A16", .format = "awq"});
  EXPECT_FALSE(awq->groups->symmetric);
  EXPECT_EQ(awq->groups->least_zero, 0);
  // Int8 keeps scales of single precision, but GPTQ's are halves.
  EXPECT_FALSE(FolderSchemeOf({.type = "W8A16"})->groups->half_scales);
  EXPECT_TRUE(FolderSchemeOf({.type = "W8A16", .format = "gptq"})->groups->half_scales);
  EXPECT_EQ(FolderSchemeOf({.type = "W8A8", .group_size = 64})->groups->group_size, 0);
  EXPECT_FALSE(FolderSchemeOf({.type = "FP8"})->groups.has_value());
}

TEST(FolderScheme, TellsWhichWeightsOfE4M3ShareAScale) {
  EXPECT_EQ(FolderSchemeOf({.type = "FP8"})->fp8->rows, 1);
  EXPECT_EQ(FolderSchemeOf({.type = "FP8"})->fp8->cols, 0);
  EXPECT_EQ(FolderSchemeOf({.type = "FP8_TENSOR"})->fp8->rows, 0);
  EXPECT_EQ(FolderSchemeOf({.type = "FP8_BLOCK"})->fp8->rows, 128);
  EXPECT_EQ(FolderSchemeOf({.type = "FP8_BLOCK"})->fp8->cols, 128);
  for (const char* type : {"FP8_E5M2", "FP8_E5M2_ROW", "FP8_E5M2_TENSOR"}) {
    const auto e5m2 = FolderSchemeOf({.type = type});
    ASSERT_TRUE(e5m2.ok()) << type;
    EXPECT_FALSE(e5m2->fp8.has_value()) << type;
    EXPECT_TRUE(e5m2->packing.quantization.e5m2) << type;
    EXPECT_FALSE(FolderSchemeOf({.type = type, .format = "compressed-tensors"}).ok()) << type;
    EXPECT_FALSE(FolderSchemeOf({.type = type, .static_inputs = true}).ok()) << type;
  }
  EXPECT_FALSE(FolderSchemeOf({.type = "W4A16"})->fp8.has_value());
}

TEST(FolderScheme, RefusesByNameWhatDoesNotGoTogether) {
  EXPECT_THAT(Refused({.type = "W2A16", .format = "awq"}), HasSubstr("awq does not hold W2A16; wanted gptq"));
  EXPECT_THAT(Refused({.type = "FP8", .format = "fp8"}), HasSubstr("wanted compressed-tensors"));
  EXPECT_THAT(Refused({.type = "W4A16", .group_size = 100}), HasSubstr("--group-size 100"));
  EXPECT_THAT(Refused({.type = "W8A16", .format = "gptq", .asymmetric = true}), HasSubstr("2 to 4 bits"));
}

}  // namespace
}  // namespace adit::quant
