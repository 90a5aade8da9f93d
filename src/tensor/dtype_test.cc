#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace adit {
namespace {

struct KnownType {
  DType dtype;
  const char* name;
  int block_elements;
  int block_bytes;
};

// From ggml's definitions, apart from the table under test.
constexpr KnownType kKnownTypes[] = {
    {DType::kF32, "f32", 1, 4},          {DType::kF16, "f16", 1, 2},         {DType::kBF16, "bf16", 1, 2},
    {DType::kQ4_0, "q4_0", 32, 18},      {DType::kQ4_1, "q4_1", 32, 20},     {DType::kQ5_0, "q5_0", 32, 22},
    {DType::kQ5_1, "q5_1", 32, 24},      {DType::kQ8_0, "q8_0", 32, 34},     {DType::kQ2_K, "q2_k", 256, 84},
    {DType::kQ3_K, "q3_k", 256, 110},    {DType::kQ4_K, "q4_k", 256, 144},   {DType::kQ5_K, "q5_k", 256, 176},
    {DType::kQ6_K, "q6_k", 256, 210},    {DType::kIQ4_NL, "iq4_nl", 32, 18}, {DType::kIQ4_XS, "iq4_xs", 256, 136},
    {DType::kIQ1_S, "iq1_s", 256, 50},   {DType::kIQ1_M, "iq1_m", 256, 56},  {DType::kIQ2_XXS, "iq2_xxs", 256, 66},
    {DType::kIQ2_XS, "iq2_xs", 256, 74}, {DType::kIQ2_S, "iq2_s", 256, 82},  {DType::kIQ3_XXS, "iq3_xxs", 256, 98},
    {DType::kIQ3_S, "iq3_s", 256, 110},  {DType::kTQ1_0, "tq1_0", 256, 54},  {DType::kTQ2_0, "tq2_0", 256, 66},
    {DType::kMXFP4, "mxfp4", 32, 17},    {DType::kNVFP4, "nvfp4", 64, 36},   {DType::kInt4, "int4", 32, 19},
    {DType::kInt8, "int8", 32, 36},      {DType::kFp8, "fp8", 32, 36},
};

TEST(Traits, HoldsTheSizesOfEachType) {
  ASSERT_EQ(std::size(kKnownTypes), kNumDTypes);
  for (const KnownType& known : kKnownTypes) {
    const DTypeTraits& traits = Traits(known.dtype);
    EXPECT_STREQ(traits.name, known.name);
    EXPECT_EQ(traits.block_elements, known.block_elements) << known.name;
    EXPECT_EQ(traits.block_bytes, known.block_bytes) << known.name;
    EXPECT_NE(traits.decode, nullptr) << known.name;
  }
}

TEST(ParseDType, FindsEachNameInEitherCase) {
  for (const KnownType& known : kKnownTypes) {
    std::string upper = known.name;
    for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    EXPECT_EQ(ParseDType(known.name), known.dtype) << known.name;
    EXPECT_EQ(ParseDType(upper), known.dtype) << upper;
  }
}

TEST(ParseDType, RefusesWhatIsNoName) {
  for (const char* name : {"", "f", "f3", "f322", " f32", "q4_k_m", "q4-k", "iq2_xx", "float32"}) {
    EXPECT_EQ(ParseDType(name), std::nullopt) << name;
  }
}

TEST(RowBytes, CountsBlocks) {
  EXPECT_EQ(RowBytes(DType::kF32, 7), 28u);
  EXPECT_EQ(RowBytes(DType::kBF16, 7), 14u);
  EXPECT_EQ(RowBytes(DType::kQ4_0, 96), 54u);
  EXPECT_EQ(RowBytes(DType::kQ6_K, 512), 420u);
  EXPECT_EQ(RowBytes(DType::kQ8_0, 0), 0u);
  EXPECT_EQ(RowBytes(DType::kQ8_0, int64_t{1} << 40), size_t{34} << 35);
}

}  // namespace
}  // namespace adit
