#include "tensor/decode.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "support/safetensors_reader.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace adit {
namespace {

constexpr DType kBlockTypes[] = {DType::kQ4_0,   DType::kQ4_1,   DType::kQ5_0,    DType::kQ5_1,  DType::kQ8_0,
                                 DType::kQ2_K,   DType::kQ3_K,   DType::kQ4_K,    DType::kQ5_K,  DType::kQ6_K,
                                 DType::kIQ4_NL, DType::kIQ4_XS, DType::kIQ1_S,   DType::kIQ1_M, DType::kIQ2_XXS,
                                 DType::kIQ2_XS, DType::kIQ2_S,  DType::kIQ3_XXS, DType::kIQ3_S, DType::kTQ1_0,
                                 DType::kTQ2_0,  DType::kMXFP4,  DType::kNVFP4};

std::string UpperName(DType dtype) {
  std::string name = Traits(dtype).name;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// Decodes `bytes` and compares each element with `wanted`, bit for bit.
void ExpectDecodesTo(DType dtype, const test::TestTensors& golden, const std::string& bytes_name,
                     const std::string& wanted_name) {
  const auto bytes = golden.find(UpperName(dtype) + bytes_name);
  const auto wanted = golden.find(UpperName(dtype) + wanted_name);
  ASSERT_TRUE(bytes != golden.end() && wanted != golden.end()) << UpperName(dtype);
  const std::vector<float> expected = wanted->second.Floats();
  const int64_t num_elements = wanted->second.num_elements();
  ASSERT_EQ(bytes->second.bytes.size(), RowBytes(dtype, num_elements));
  std::vector<float> decoded(expected.size());
  Traits(dtype).decode(bytes->second.bytes.data(), decoded.data(), num_elements);
  for (size_t i = 0; i < decoded.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(decoded[i]), std::bit_cast<uint32_t>(expected[i]))
        << Traits(dtype).name << " element " << i << ": got " << decoded[i] << ", wanted " << expected[i];
  }
}

class DecodeGolden : public testing::TestWithParam<DType> {};

TEST_P(DecodeGolden, DecodesLibggmlRowsAndRandomBytesBitExactly) {
  const auto golden = test::ReadSafetensors(ADIT_SOURCE_DIR "/tests/goldens/ggml_quants/blocks.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  // The libggml that made the others has no quantiser of NVFP4.
  if (GetParam() != DType::kNVFP4) ExpectDecodesTo(GetParam(), *golden, ".bytes", ".dequant");
  ExpectDecodesTo(GetParam(), *golden, ".random_bytes", ".random_dequant");
}

TEST_P(DecodeGolden, DecodesAllRowsOfTheSharedGoldenBitExactly) {
  const std::string path = ADIT_SHARED_DIR "/oracle/ggml_quants/blocks.safetensors";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  if (GetParam() == DType::kNVFP4) GTEST_SKIP() << path << " has no NVFP4";
  const auto golden = test::ReadSafetensors(path);
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  ExpectDecodesTo(GetParam(), *golden, ".bytes", ".dequant");
}

TEST_P(DecodeGolden, DecodesUnalignedBlocksAlike) {
  const auto golden = test::ReadSafetensors(ADIT_SOURCE_DIR "/tests/goldens/ggml_quants/blocks.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  const std::vector<std::byte>& aligned = golden->at(UpperName(GetParam()) + ".random_bytes").bytes;
  std::vector<std::byte> shifted(aligned.size() + 1);
  std::memcpy(shifted.data() + 1, aligned.data(), aligned.size());
  float from_aligned[256];
  float from_shifted[256];
  Traits(GetParam()).decode(aligned.data(), from_aligned, 256);
  Traits(GetParam()).decode(shifted.data() + 1, from_shifted, 256);
  EXPECT_EQ(std::memcmp(from_aligned, from_shifted, sizeof(from_aligned)), 0);
}

TEST_P(DecodeGolden, GivesExactZerosForABlockOfZeros) {
  const DTypeTraits& traits = Traits(GetParam());
  const std::vector<std::byte> block(static_cast<size_t>(traits.block_bytes));
  std::vector<float> out(static_cast<size_t>(traits.block_elements), 1.0f);
  traits.decode(block.data(), out.data(), traits.block_elements);
  for (const float x : out) EXPECT_EQ(x, 0.0f);
}

INSTANTIATE_TEST_SUITE_P(AllBlockTypes, DecodeGolden, testing::ValuesIn(kBlockTypes),
                         [](const auto& test) { return std::string(Traits(test.param).name); });

TEST(DecodePlain, KeepsF32BitsAndWidensHalves) {
  const float floats[] = {1.5f, -0.0f, 3e38f, std::nanf("")};
  float out[4];
  DecodeF32(reinterpret_cast<const std::byte*>(floats), out, 4);
  EXPECT_EQ(std::memcmp(out, floats, sizeof(floats)), 0);

  const uint16_t halves[] = {0x3e00, 0x8000, 0x7bff};
  DecodeF16(reinterpret_cast<const std::byte*>(halves), out, 3);
  EXPECT_EQ(out[0], 1.5f);
  EXPECT_TRUE(out[1] == 0.0f && std::signbit(out[1]));
  EXPECT_EQ(out[2], 65504.0f);

  const uint16_t bf16[] = {0x3fc0, 0xc000};
  DecodeBF16(reinterpret_cast<const std::byte*>(bf16), out, 2);
  EXPECT_EQ(out[0], 1.5f);
  EXPECT_EQ(out[1], -2.0f);
}

TEST(DecodePlain, WritesNothingForNoElements) {
  float out = 7.0f;
  for (int i = 0; i < kNumDTypes; ++i) Traits(static_cast<DType>(i)).decode(nullptr, &out, 0);
  EXPECT_EQ(out, 7.0f);
}

}  // namespace
}  // namespace adit
