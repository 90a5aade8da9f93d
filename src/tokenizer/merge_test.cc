#include "tokenizer/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "tokenizer/merge_table.h"
#include "tokenizer/naive_bpe.h"

namespace adit::tokenizer {
namespace {

// A random set of merges over a few letters. Ids are positions in pieces.
struct RandomMerges {
  std::vector<std::string> pieces;
  std::map<std::pair<std::string, std::string>, uint32_t> ranks;
  MergeTable table{200};

  int32_t Id(const std::string& piece) {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (pieces[i] == piece) return static_cast<int32_t>(i);
    }
    pieces.push_back(piece);
    return static_cast<int32_t>(pieces.size()) - 1;
  }

  RandomMerges(std::mt19937& rng, size_t num_letters, size_t num_merges) {
    for (size_t i = 0; i < num_letters; ++i) pieces.push_back(std::string(1, static_cast<char>('a' + i)));
    for (uint32_t rank = 0; rank < num_merges; ++rank) {
      const std::string left = pieces[rng() % pieces.size()];
      const std::string right = pieces[rng() % pieces.size()];
      if (left.size() + right.size() > 24) continue;
      ranks.try_emplace({left, right}, rank);
      table.Add(Id(left), Id(right), {rank, Id(left + right)});
    }
  }
};

std::vector<std::string> MergeByHeap(const RandomMerges& merges, const std::string& word) {
  Merger merger;
  for (size_t i = 0; i < word.size(); ++i) merger.Add({static_cast<uint32_t>(i), 1, word[i] - 'a'});
  merger.Run([&](const MergeSymbol& left, const MergeSymbol& right) { return merges.table.Find(left.id, right.id); });
  std::vector<std::string> pieces;
  merger.ForEach([&](const MergeSymbol& symbol) {
    pieces.push_back(word.substr(symbol.begin, symbol.length));
    EXPECT_EQ(pieces.back(), merges.pieces[static_cast<size_t>(symbol.id)]);
  });
  return pieces;
}

TEST(Merger, EqualsTheDefinitionOnRandomMergesAndWords) {
  constexpr uint32_t kSeed = 7;
  std::mt19937 rng(kSeed);
  for (int round = 0; round < 150; ++round) {
    const size_t num_letters = 1 + rng() % 4;
    const RandomMerges merges(rng, num_letters, rng() % 60);
    const MergeOrder order = [&](const std::string& left, const std::string& right) -> std::optional<double> {
      const auto found = merges.ranks.find({left, right});
      if (found == merges.ranks.end()) return std::nullopt;
      return found->second;
    };
    for (int i = 0; i < 10; ++i) {
      std::string word;
      for (size_t n = rng() % 201; n > 0; --n) word += static_cast<char>('a' + rng() % num_letters);
      std::vector<std::string> letters;
      for (const char c : word) letters.push_back(std::string(1, c));
      ASSERT_EQ(MergeByHeap(merges, word), NaiveMerge(letters, order)) << "seed " << kSeed << " round " << round;
    }
  }
}

TEST(Merger, ForgetsTheLastWord) {
  Merger merger;
  const auto never = [](const MergeSymbol&, const MergeSymbol&) { return Merge{}; };
  merger.Add({0, 1, 5});
  merger.Run(never);
  merger.Clear();
  merger.Run(never);
  int num_symbols = 0;
  merger.ForEach([&](const MergeSymbol&) { ++num_symbols; });
  EXPECT_EQ(num_symbols, 0);
}

TEST(MergeTable, KeepsTheFirstAndKnowsNoNegativeIds) {
  MergeTable table(3);
  table.Add(1, 2, {0, 10});
  table.Add(1, 2, {1, 11});
  table.Add(2, 1, {2, 12});
  EXPECT_EQ(table.Find(1, 2).id, 10);
  EXPECT_EQ(table.Find(2, 1).rank, 2u);
  EXPECT_LT(table.Find(2, 2).id, 0);
  EXPECT_LT(table.Find(-1, 2).id, 0);
  EXPECT_LT(table.Find(1, -1).id, 0);
  EXPECT_LT(MergeTable(0).Find(0, 0).id, 0);
}

}  // namespace
}  // namespace adit::tokenizer
