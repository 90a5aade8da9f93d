#include "tensor/encode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/safetensors_reader.h"

namespace adit {
namespace {

constexpr DType kEncoded[] = {DType::kF16,  DType::kBF16, DType::kQ4_0,  DType::kQ4_1,  DType::kQ5_0,
                              DType::kQ5_1, DType::kQ8_0, DType::kTQ1_0, DType::kTQ2_0, DType::kMXFP4};

// Elements of two blocks, or 64 of a type without.
size_t TwoBlocks(DType dtype) { return 2 * static_cast<size_t>(std::max(Traits(dtype).block_elements, 32)); }

class EncodeGolden : public testing::TestWithParam<DType> {};

TEST_P(EncodeGolden, GivesTheBytesOfTheReferenceQuantisers) {
  const auto golden = test::ReadSafetensors(ADIT_SOURCE_DIR "/tests/goldens/ggml_quants/encode.safetensors");
  ASSERT_TRUE(golden.ok()) << golden.status().ToString();
  std::string name = Traits(GetParam()).name;
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::vector<float> values = golden->at("source").Floats();
  const std::vector<std::byte>& wanted = golden->at(name + ".bytes").bytes;
  std::vector<std::byte> got(RowBytes(GetParam(), static_cast<int64_t>(values.size())));
  ASSERT_EQ(got.size(), wanted.size());
  EncodeFor(GetParam())(values.data(), got.data(), static_cast<int64_t>(values.size()));
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], wanted[i]) << "byte " << i;
}

TEST_P(EncodeGolden, WhatIsRepresentableSurvives) {
  const DTypeTraits& traits = Traits(GetParam());
  const size_t size = TwoBlocks(GetParam());
  std::vector<float> values(size);
  for (size_t i = 0; i < size; ++i) values[i] = i % 2 == 0 ? 0.0f : -4.0f;
  std::vector<std::byte> blocks(RowBytes(GetParam(), static_cast<int64_t>(size)));
  EncodeFor(GetParam())(values.data(), blocks.data(), static_cast<int64_t>(size));
  std::vector<float> decoded(size);
  traits.decode(blocks.data(), decoded.data(), static_cast<int64_t>(size));
  for (size_t i = 0; i < size; ++i) EXPECT_NEAR(decoded[i], values[i], 2e-3f) << i;
}

TEST_P(EncodeGolden, InfinitiesAndNanStayThemselvesOrSpoilTheirBlockAlone) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    const size_t size = TwoBlocks(GetParam());
    std::vector<float> values(size, 1.0f);
    values[3] = bad;
    std::vector<std::byte> blocks(RowBytes(GetParam(), static_cast<int64_t>(size)));
    EncodeFor(GetParam())(values.data(), blocks.data(), static_cast<int64_t>(size));
    std::vector<float> decoded(size);
    Traits(GetParam()).decode(blocks.data(), decoded.data(), static_cast<int64_t>(size));
    for (size_t i = size / 2; i < size; ++i) EXPECT_NEAR(decoded[i], 1.0f, 1e-2f);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, EncodeGolden, testing::ValuesIn(kEncoded),
                         [](const auto& test) { return std::string(Traits(test.param).name); });

TEST(Encode, KeepsFloats) {
  const float values[2] = {1.5f, -0.0f};
  float out[2];
  EncodeFor(DType::kF32)(values, reinterpret_cast<std::byte*>(out), 2);
  EXPECT_EQ(std::memcmp(values, out, sizeof(out)), 0);
}

}  // namespace
}  // namespace adit
