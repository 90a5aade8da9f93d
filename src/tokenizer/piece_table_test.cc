#include "tokenizer/piece_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace adit::tokenizer {
namespace {

TEST(PieceTable, FindsOnlyWhatIsIndexed) {
  PieceTable table;
  EXPECT_EQ(table.Find("a"), -1);
  table.Add("a");
  table.Add("b");
  EXPECT_EQ(table.Find("a"), -1);
  EXPECT_EQ(table.Index(1), -1);
  EXPECT_EQ(table.Find("b"), 1);
  EXPECT_EQ(table.Find("a"), -1);
  EXPECT_EQ(table[0], "a");
  EXPECT_EQ(table.size(), 2);
}

TEST(PieceTable, KeepsTheFirstOfEqualStrings) {
  PieceTable table;
  for (const char* text : {"x", "y", "x"}) table.Add(text);
  EXPECT_EQ(table.Index(0), -1);
  EXPECT_EQ(table.Index(1), -1);
  EXPECT_EQ(table.Index(2), 0);
  EXPECT_EQ(table.Find("x"), 0);
}

TEST(PieceTable, AgreesWithAMapOnRandomStrings) {
  constexpr uint32_t kSeed = 5;
  std::mt19937 rng(kSeed);
  PieceTable table;
  std::map<std::string, int32_t> model;
  const auto random_text = [&rng] {
    std::string text;
    for (size_t i = rng() % 20; i > 0; --i) text += static_cast<char>(rng() % 3);
    return text;
  };
  for (int32_t id = 0; id < 20'000; ++id) {
    const std::string text = random_text();
    table.Add(text);
    const auto [entry, inserted] = model.try_emplace(text, id);
    ASSERT_EQ(table.Index(id), inserted ? -1 : entry->second);
    const std::string other = random_text();
    const auto found = model.find(other);
    ASSERT_EQ(table.Find(other), found == model.end() ? -1 : found->second) << "seed " << kSeed;
  }
}

}  // namespace
}  // namespace adit::tokenizer
