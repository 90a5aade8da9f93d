#include "tokenizer/decode_table.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace adit::tokenizer {
namespace {

PieceTable Table(const std::vector<std::string>& texts) {
  PieceTable table;
  for (const std::string& text : texts) table.Add(text);
  return table;
}

std::string Decoded(const DecodeTable& table, const std::vector<int32_t>& ids) {
  DecodeState state;
  std::string out;
  for (const int32_t id : ids) table.Next(id, state, out);
  table.End(state, out);
  return out;
}

TEST(DecodeTable, TheFirstTokenMayDiffer) {
  const DecodeTable table(Table({" a", " b", ""}), Table({"a", "b", ""}));
  EXPECT_EQ(Decoded(table, {0, 1, 0}), "a b a");
  EXPECT_EQ(Decoded(table, {2, 2, 0, 1}), "a b");
  EXPECT_EQ(Decoded(table, {}), "");
}

TEST(DecodeTable, TheLastTokenMayDiffer) {
  const DecodeTable table(Table({"a ", "b ", "c"}), {}, Table({"a", "b", "c"}));
  EXPECT_EQ(Decoded(table, {0}), "a");
  EXPECT_EQ(Decoded(table, {0, 1}), "a b");
  EXPECT_EQ(Decoded(table, {2, 1, 2}), "cb c");
  DecodeState state;
  std::string out;
  table.Next(0, state, out);
  EXPECT_EQ(out, "");  // whether "a " or "a" is not known yet
  table.Next(2, state, out);
  EXPECT_EQ(out, "a ");
}

TEST(DecodeTable, EndsAreStrippedAcrossTokens) {
  const DecodeTable table(Table({" ", "  x", "y ", "z"}), {}, {}, {.text = " ", .front = 2, .back = 1});
  EXPECT_EQ(Decoded(table, {0, 1}), " x");
  EXPECT_EQ(Decoded(table, {3, 0, 0}), "z ");
  EXPECT_EQ(Decoded(table, {2, 2, 0}), "y y ");
  EXPECT_EQ(Decoded(table, {0}), "");
  EXPECT_EQ(Decoded(table, {0, 0, 0, 0}), " ");
}

// The definition: join, then strip.
TEST(DecodeTable, StrippingEqualsStrippingTheWhole) {
  constexpr uint32_t kSeed = 3;
  std::mt19937 rng(kSeed);
  const std::vector<std::string> texts = {"_", "__", "a", "_a", "a_", "_a_", ""};
  for (int round = 0; round < 2000; ++round) {
    const EndStrip strip = {"_", static_cast<int32_t>(rng() % 4), static_cast<int32_t>(rng() % 4)};
    const DecodeTable table(Table(texts), {}, {}, strip);
    std::vector<int32_t> ids(rng() % 6);
    std::string whole;
    for (int32_t& id : ids) {
      id = static_cast<int32_t>(rng() % texts.size());
      whole += texts[static_cast<size_t>(id)];
    }
    for (int32_t i = 0; i < strip.front && whole.starts_with('_'); ++i) whole.erase(0, 1);
    for (int32_t i = 0; i < strip.back && whole.ends_with('_'); ++i) whole.pop_back();
    ASSERT_EQ(Decoded(table, ids), whole) << "seed " << kSeed << " round " << round;
  }
}

}  // namespace
}  // namespace adit::tokenizer
