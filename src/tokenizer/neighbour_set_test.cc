#include "tokenizer/neighbour_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>

namespace adit::tokenizer {
namespace {

TEST(NeighbourSet, HoldsThePairsOfItsPieces) {
  NeighbourSet set;
  EXPECT_FALSE(set.Contains('a', 'b'));
  EXPECT_FALSE(set.Contains('a', PackChar("é")));
  set.AddPiece("abé▁");
  set.AddPiece("x");
  set.AddPiece("");
  EXPECT_TRUE(set.Contains('a', 'b'));
  EXPECT_TRUE(set.Contains('b', PackChar("é")));
  EXPECT_TRUE(set.Contains(PackChar("é"), PackChar("▁")));
  EXPECT_FALSE(set.Contains('b', 'a'));
  EXPECT_FALSE(set.Contains('a', PackChar("é")));
}

TEST(NeighbourSet, CutsBrokenCharactersByTheirFirstByte) {
  NeighbourSet set;
  set.AddPiece("a\xE4\xBD");
  EXPECT_TRUE(set.Contains('a', PackChar("\xE4\xBD")));
  set.AddPiece("\xC3(b");
  EXPECT_TRUE(set.Contains(PackChar("\xC3("), 'b'));
}

TEST(NeighbourSet, AgreesWithASetOfPairs) {
  constexpr uint32_t kSeed = 61;
  std::mt19937 rng(kSeed);
  const std::string characters[] = {"a", "b", "\x7F", "é", "ß", "你", "▁", "🙂", "👍"};
  NeighbourSet set;
  std::set<std::pair<std::string, std::string>> model;
  for (int round = 0; round < 40; ++round) {
    const std::string& left = characters[rng() % std::size(characters)];
    const std::string& right = characters[rng() % std::size(characters)];
    set.AddPiece(left + right);
    model.emplace(left, right);
    for (const std::string& a : characters) {
      for (const std::string& b : characters) ASSERT_EQ(set.Contains(PackChar(a), PackChar(b)), model.contains({a, b}));
    }
  }
}

}  // namespace
}  // namespace adit::tokenizer
