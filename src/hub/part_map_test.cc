#include "hub/part_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace adit::hub {
namespace {

TEST(PartMap, PartsAreTakenOnceAndGoneOnFrom) {
  PartMap map("hash", 25, 10);
  const auto first = map.Take();
  const auto second = map.Take();
  const auto third = map.Take();
  ASSERT_TRUE(first && second && third);
  EXPECT_EQ(first->begin, 0);
  EXPECT_EQ(first->end, 10);
  EXPECT_EQ(third->begin, 20);
  EXPECT_EQ(third->end, 25);
  EXPECT_FALSE(map.Take());
  map.Advance(second->part, 4);
  map.Release(second->part);
  const auto again = map.Take();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->begin, 14);
  EXPECT_EQ(again->end, 20);
  map.Advance(first->part, 10);
  map.Advance(again->part, 6);
  map.Advance(third->part, 5);
  EXPECT_TRUE(map.complete());
  map.Release(first->part);
  EXPECT_FALSE(map.Take());
}

TEST(PartMap, GoesThroughText) {
  PartMap map("hash", 25, 10);
  (void)map.Take();
  map.Advance(0, 7);
  map.Advance(2, 5);
  std::optional<PartMap> read = PartMap::Parse(map.ToText(), "hash", 25);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->done_bytes(), 12);
  const auto next = read->Take();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->begin, 7) << "what was taken is taken by nobody now";
}

TEST(PartMap, ATextOfSomethingElseIsNone) {
  const std::string good = PartMap("hash", 25, 10).ToText();
  ASSERT_TRUE(PartMap::Parse(good, "hash", 25));
  EXPECT_FALSE(PartMap::Parse(good, "other", 25));
  EXPECT_FALSE(PartMap::Parse(good, "hash", 26));
  for (size_t length = 0; length + 1 < good.size(); ++length) {
    EXPECT_FALSE(PartMap::Parse(good.substr(0, length), "hash", 25)) << length;
  }
  for (const char* text : {"adit-part-map 1\nhash 25 0\n", "adit-part-map 1\nhash 25 10\n11\n0\n0\n",
                           "adit-part-map 1\nhash 25 10\n-1\n0\n0\n", "adit-part-map 1\nhash 25 10\n0\n0\n6\n",
                           "adit-part-map 2\nhash 25 10\n0\n0\n0\n"}) {
    EXPECT_FALSE(PartMap::Parse(text, "hash", 25)) << text;
  }
  EXPECT_FALSE(PartMap::Parse("adit-part-map 1\nhash 9000000000000000000 1\n0\n", "hash", 9'000'000'000'000'000'000))
      << "a map of more parts than there may be";
}

TEST(PartMap, NothingIsWantingOfAnEmptyFile) {
  PartMap map("hash", 0, 10);
  EXPECT_TRUE(map.complete());
  EXPECT_FALSE(map.Take());
}

}  // namespace
}  // namespace adit::hub
