#include "tensor/k_scales.h"

#include <gtest/gtest.h>

#include <random>

namespace adit {
namespace {

TEST(UnpackKScales, InvertsThePackingOfItsDiagram) {
  std::mt19937 rng(1);
  for (int round = 0; round < 200; ++round) {
    KScale wanted[8];
    for (KScale& group : wanted) group = {static_cast<uint8_t>(rng() % 64), static_cast<uint8_t>(rng() % 64)};
    uint8_t packed[12] = {};
    for (int g = 0; g < 4; ++g) {
      packed[g] = static_cast<uint8_t>(wanted[g].scale | (wanted[g + 4].scale >> 4 << 6));
      packed[4 + g] = static_cast<uint8_t>(wanted[g].min | (wanted[g + 4].min >> 4 << 6));
      packed[8 + g] = static_cast<uint8_t>((wanted[g + 4].scale & 15) | ((wanted[g + 4].min & 15) << 4));
    }
    uint8_t scales[8], mins[8], packed_again[12];
    for (int g = 0; g < 8; ++g) {
      scales[g] = wanted[g].scale;
      mins[g] = wanted[g].min;
    }
    PackKScales(scales, mins, packed_again);
    for (int i = 0; i < 12; ++i) ASSERT_EQ(packed_again[i], packed[i]) << "round " << round << " byte " << i;
    KScale got[8];
    UnpackKScales(packed, got);
    for (int g = 0; g < 8; ++g) {
      ASSERT_EQ(got[g].scale, wanted[g].scale) << "round " << round << " group " << g;
      ASSERT_EQ(got[g].min, wanted[g].min) << "round " << round << " group " << g;
    }
  }
}

TEST(UnpackQ3KScales, InvertsThePackingOfItsDiagram) {
  std::mt19937 rng(1);
  for (int round = 0; round < 200; ++round) {
    int wanted[16];
    uint8_t packed[12] = {};
    for (int g = 0; g < 16; ++g) {
      wanted[g] = static_cast<int>(rng() % 64);
      packed[g % 8] = static_cast<uint8_t>(packed[g % 8] | ((wanted[g] & 15) << (4 * (g / 8))));
      packed[8 + g % 4] = static_cast<uint8_t>(packed[8 + g % 4] | ((wanted[g] >> 4) << (2 * (g / 4))));
    }
    int8_t scales[16];
    uint8_t packed_again[12];
    for (int g = 0; g < 16; ++g) scales[g] = static_cast<int8_t>(wanted[g] - 32);
    PackQ3KScales(scales, packed_again);
    for (int i = 0; i < 12; ++i) ASSERT_EQ(packed_again[i], packed[i]) << "round " << round << " byte " << i;
    int8_t got[16];
    UnpackQ3KScales(packed, got);
    for (int g = 0; g < 16; ++g) ASSERT_EQ(got[g], wanted[g] - 32) << "round " << round << " group " << g;
  }
}

}  // namespace
}  // namespace adit
