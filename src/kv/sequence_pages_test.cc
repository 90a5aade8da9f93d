#include "kv/sequence_pages.h"

#include <gtest/gtest.h>

#include <vector>

namespace adit::kv {
namespace {

constexpr int64_t kBlock = 4;

TEST(SequencePages, ReservesForAllGroupsOrForNone) {
  BlockPool pool(5);
  SequencePages pages(pool, {.block_size = kBlock, .windows = {0, 8}}, 20);
  EXPECT_EQ(pages.PagesToReserve(8), 4);
  EXPECT_TRUE(pages.Reserve(8));
  EXPECT_EQ(pages.num_pages(), 4);
  EXPECT_FALSE(pages.Reserve(9));
  EXPECT_EQ(pages.num_pages(), 4);
  EXPECT_EQ(pool.num_free(), 1);
}

TEST(SequencePages, ReleasesOnlyWhatNoWindowSees) {
  BlockPool pool(20);
  SequencePages pages(pool, {.block_size = kBlock, .windows = {0, 6}});
  ASSERT_TRUE(pages.Reserve(20));
  // A query at position 13 sees 8..13.
  pages.ReleaseBehind(13);
  EXPECT_EQ(pages.num_pages(), 5 + 3);
  EXPECT_EQ(pages.block_tables()[1][1], -1);
  EXPECT_GE(pages.block_tables()[1][2], 0);
  EXPECT_GE(pages.block_tables()[0][0], 0);
  EXPECT_EQ(pages.WrittenTokens(13), 13 + 13 - 8);
}

TEST(SequencePages, AForkCopiesThePageThatItWritesAndNoOther) {
  BlockPool pool(20);
  SequencePages parent(pool, {.block_size = kBlock, .windows = {0}});
  ASSERT_TRUE(parent.Reserve(10));
  SequencePages child = parent.Fork();
  EXPECT_EQ(pool.num_free(), 17);
  EXPECT_EQ(child.PagesToMakeWritable(10), 1);
  EXPECT_EQ(child.PagesToMakeWritable(12), 0);  // a page that is not there yet
  std::vector<BlockCopy> copies;
  ASSERT_TRUE(child.MakeWritable(10, copies));
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].from, parent.block_tables()[0][2]);
  EXPECT_EQ(copies[0].to, child.block_tables()[0][2]);
  EXPECT_EQ(child.block_tables()[0][1], parent.block_tables()[0][1]);
  EXPECT_TRUE(parent.MakeWritable(10, copies));
  EXPECT_EQ(copies.size(), 1u);
}

TEST(SequencePages, AdoptsAMatchAndCopiesThePageThatItSharesInPart) {
  BlockPool pool(20);
  const PageGroups groups{.block_size = kBlock, .windows = {0}};
  PrefixTree tree(pool, {.block_size = kBlock, .windows = groups.windows});
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6, 7, 8};
  SequencePages first(pool, groups);
  ASSERT_TRUE(first.Reserve(8));
  tree.Insert(tokens, 8, 0, first.tables());
  SequencePages second(pool, groups);
  std::vector<BlockCopy> copies;
  EXPECT_EQ(second.Adopt(tree.Match(tokens, 7, 0), copies), 7);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].from, first.block_tables()[0][1]);
  EXPECT_NE(copies[0].to, copies[0].from);
  EXPECT_EQ(second.block_tables()[0][0], first.block_tables()[0][0]);
}

TEST(PageGroups, CountsTheMostPagesThatASequenceHolds) {
  const PageGroups groups{.block_size = 16, .windows = {0, 32}};
  EXPECT_EQ(groups.MostPages(16, 8), 2);
  // 1,000 tokens; 40 positions of the window and a step, which may begin and end inside a page.
  EXPECT_EQ(groups.MostPages(1000, 8), 63 + 4);
}

}  // namespace
}  // namespace adit::kv
