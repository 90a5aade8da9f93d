#include "tensor/encode.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "support/safetensors_reader.h"

namespace adit {
namespace {

constexpr DType kEncoded[] = {DType::kF16,  DType::kBF16, DType::kQ4_0, DType::kQ4_1,
                              DType::kQ5_0, DType::kQ5_1, DType::kQ8_0};

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
  std::vector<float> values(64);
  for (int i = 0; i < 64; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i % 2 == 0 ? 0 : -8) * 0.5f;
  std::vector<std::byte> blocks(RowBytes(GetParam(), 64));
  EncodeFor(GetParam())(values.data(), blocks.data(), 64);
  std::vector<float> decoded(64);
  traits.decode(blocks.data(), decoded.data(), 64);
  for (size_t i = 0; i < 64; ++i) EXPECT_NEAR(decoded[i], values[i], 2e-3f) << i;
}

TEST_P(EncodeGolden, InfinitiesAndNanStayThemselvesOrSpoilTheirBlockAlone) {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    std::vector<float> values(64, 1.0f);
    values[3] = bad;
    std::vector<std::byte> blocks(RowBytes(GetParam(), 64));
    EncodeFor(GetParam())(values.data(), blocks.data(), 64);
    std::vector<float> decoded(64);
    Traits(GetParam()).decode(blocks.data(), decoded.data(), 64);
    for (size_t i = 32; i < 64; ++i) EXPECT_NEAR(decoded[i], 1.0f, 1e-2f);
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
