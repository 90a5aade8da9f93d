#include "base/rng.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <set>
#include <vector>

namespace adit {
namespace {

using ::testing::ElementsAre;

// The known answers that Random123 ships as tests/kat_vectors: zeros, ones, and digits of pi.
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_THAT(Philox4x32({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_THAT(Philox4x32({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
  EXPECT_THAT(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(RandomBits, AreTheFirstWordsOfTheBlock) {
  EXPECT_EQ(RandomBits(0, 0), 0x6627e8d5e169c58du);
  EXPECT_EQ(RandomUniform(0, 0), static_cast<double>(0x6627e8d5e169c58du >> 11) / 9007199254740992.0);
  const auto words = Philox4x32({0x55667788, 0x11223344, 9, 0}, {0x0badcafe, 0xdeadbeef});
  EXPECT_EQ(RandomBits(0xdeadbeef0badcafe, 0x1122334455667788, 9), uint64_t{words[0]} << 32 | words[1]);
}

TEST(RandomBits, DifferBetweenSeedsPositionsAndStreams) {
  std::set<uint64_t> seen;
  for (uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, ~uint64_t{0}}) {
    for (uint64_t position : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, ~uint64_t{0}}) {
      for (uint32_t stream : {0u, 1u, ~0u}) EXPECT_TRUE(seen.insert(RandomBits(seed, position, stream)).second);
    }
  }
}

// Chi-square over 64 cells, for positions of one seed and for seeds at one position. With 63 degrees of freedom the
// statistic exceeds 126 once in 200,000 generators; below 23 is as rare.
TEST(RandomUniform, FillsTheUnitIntervalEvenly) {
  constexpr int kCells = 64;
  constexpr int kDraws = 64'000;
  for (const bool vary_seed : {false, true}) {
    std::array<int, kCells> counts{};
    double sum = 0;
    for (uint64_t i = 0; i < kDraws; ++i) {
      const double u = vary_seed ? RandomUniform(i, 7) : RandomUniform(7, i);
      ASSERT_GE(u, 0.0);
      ASSERT_LT(u, 1.0);
      ++counts[static_cast<size_t>(u * kCells)];
      sum += u;
    }
    double chi_square = 0;
    for (int count : counts) chi_square += std::pow(count - kDraws / kCells, 2) / (kDraws / kCells);
    EXPECT_LT(chi_square, 126);
    EXPECT_GT(chi_square, 23);
    EXPECT_NEAR(sum / kDraws, 0.5, 5 / std::sqrt(12.0 * kDraws));
  }
}

TEST(RandomBits, HalfTheBitsFlipWithOneBitOfTheArguments) {
  double flipped = 0;
  constexpr int kRounds = 64;
  for (int bit = 0; bit < kRounds; ++bit) {
    const uint64_t base = RandomBits(12345, 678);
    flipped += std::popcount(base ^ RandomBits(12345 ^ uint64_t{1} << bit, 678));
    flipped += std::popcount(base ^ RandomBits(12345, 678 ^ uint64_t{1} << bit));
  }
  EXPECT_NEAR(flipped / (2 * kRounds), 32.0, 5 * 4.0 / std::sqrt(2.0 * kRounds));
}

}  // namespace
}  // namespace adit
