// What PrefixTree lets go of, in which order, and what is of use without it: eviction and windows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kv/prefix_tree.h"
#include "kv/prefix_tree_fixture.h"

namespace adit::kv {
namespace {

using ::testing::Each;
using PrefixTreeEvictTest = PrefixTreeTest;

TEST_F(PrefixTreeEvictTest, EvictsTheLeastRecentlyUsedLeafFromItsTail) {
  Store(tree_, {1, 1, 1, 1, 2, 2, 2, 2});
  Store(tree_, {3, 3, 3, 3, 4, 4, 4, 4});
  Match(tree_, {1, 1, 1, 1, 2, 2, 2, 2});
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(Length(tree_, {3, 3, 3, 3, 4, 4, 4, 4}), 4);
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(Length(tree_, {3, 3, 3, 3}), 0);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1, 2, 2, 2, 2}), 8);
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeEvictTest, RefreshesBlocksNotWholeNodes) {
  Store(tree_, {1, 1, 1, 1, 2, 2, 2, 2});
  Store(tree_, {3, 3, 3, 3});
  Match(tree_, {1, 1, 1, 1, 9, 9, 9, 9});
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1, 2, 2, 2, 2}), 4) << "its second half was used before {3, 3, 3, 3}";
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(Length(tree_, {3, 3, 3, 3}), 0);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1}), 4);
}

TEST_F(PrefixTreeEvictTest, InsertingAgainRefreshes) {
  Store(tree_, {1, 1, 1, 1});
  Store(tree_, {2, 2, 2, 2});
  Store(tree_, {1, 1, 1, 1});
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1}), 4);
}

TEST_F(PrefixTreeEvictTest, EvictsNothingThatOthersHold) {
  std::vector<BlockTable> running = Store(tree_, {1, 1, 1, 1, 2, 2, 2, 2});
  Store(tree_, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
  Store(tree_, {4, 4, 4, 4});
  EXPECT_EQ(tree_.num_evictable(), 2);
  EXPECT_EQ(tree_.Evict(100), 2);
  EXPECT_EQ(tree_.num_evictable(), 0);
  EXPECT_EQ(tree_.Evict(1), 0);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1, 2, 2, 2, 2}), 8);
  // What was found in use is found again once it is not.
  running[0].Truncate(4);
  EXPECT_EQ(tree_.Evict(100), 1);
  running.clear();
  EXPECT_EQ(tree_.num_evictable(), 1);
  EXPECT_EQ(tree_.Evict(100), 1);
  EXPECT_EQ(tree_.num_nodes(), 0);
  EXPECT_EQ(pool_.num_free(), pool_.num_blocks());
}

// A fork that was not there when Insert replaced its sibling's duplicates holds a page below without those above.
TEST_F(PrefixTreeEvictTest, EvictsABlockNobodyHoldsThoughAForkHoldsOneBelow) {
  std::vector<BlockTable> forked = Tables(tree_, 12);
  std::vector<BlockTable> sibling;
  sibling.push_back(forked[0].Fork());
  Store(tree_, {1, 2, 3, 4, 5, 6, 7, 8});
  tree_.Insert(kTwelve, 12, 0, sibling);
  sibling.clear();
  EXPECT_EQ(tree_.num_evictable(), 2) << "the third is the fork's too";
  EXPECT_EQ(tree_.Evict(1), 2);
  EXPECT_EQ(tree_.num_blocks(), 0);
  EXPECT_EQ(tree_.stats().evicted_blocks, 3);
  EXPECT_EQ(pool_.num_blocks() - pool_.num_free(), 3) << "the fork keeps its own";
  tree_.Insert(kTwelve, 12, 0, forked);
  EXPECT_EQ(Length(tree_, kTwelve), 12);
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeEvictTest, NeedsOnlyThePagesInTheWindow) {
  PrefixTree tree(pool_, Options({0, 5}));
  {
    std::vector<BlockTable> tables = Tables(tree, 12);
    tables[1].ReleaseBefore(12 - 5 + 1);
    tree.Insert(kTwelve, 12, 0, tables);
  }
  EXPECT_EQ(tree.num_blocks(), 4) << "three, and the last one of the window";
  const PrefixMatch match = Match(tree, kTwelve);
  EXPECT_EQ(match.num_tokens, 12);
  EXPECT_THAT(match.blocks[0], Each(testing::Truly([](const BlockHandle& block) { return static_cast<bool>(block); })));
  EXPECT_FALSE(match.blocks[1][0]);
  EXPECT_FALSE(match.blocks[1][1]);
  EXPECT_TRUE(match.blocks[1][2]);
  // A query at 8 sees 4..8.
  const PrefixMatch shorter = Match(tree, {1, 2, 3, 4, 5, 6, 7, 8, 90, 90, 90, 90});
  EXPECT_EQ(shorter.num_tokens, 0);
  EXPECT_EQ(shorter.reason, MissReason::kEvicted);
  EXPECT_EQ(shorter.partial_tokens, 0) << "a block without all its pages is not copied";
  tree.CheckInvariants();
}

TEST_F(PrefixTreeEvictTest, FillsInWindowedPagesThatWereGone) {
  PrefixTree tree(pool_, Options({0, 5}));
  std::vector<BlockTable> tables = Tables(tree, 12);
  tables[1].ReleaseBefore(8);
  tree.Insert(kTwelve, 12, 0, tables);
  const std::vector<BlockTable> again = Store(tree, kTwelve);
  EXPECT_EQ(tree.num_blocks(), 6);
  EXPECT_EQ(again[1].ids()[2], tables[1].ids()[2]) << "of the one that was there it takes the tree's";
  EXPECT_THAT(tables[1].ids().first(2), Each(-1)) << "a table does not take back what it let go";
  EXPECT_EQ(Match(tree, {1, 2, 3, 4, 5, 6, 7, 8, 90, 90, 90, 90}).num_tokens, 8);
  tree.CheckInvariants();
}

TEST_F(PrefixTreeEvictTest, EvictsPagesBehindTheWindowLongestIdleFirst) {
  PrefixTree tree(pool_, Options({0, 5}));
  std::vector<BlockTable> running = Store(tree, kTwelve);
  const std::vector<int32_t> ids(running[1].ids().begin(), running[1].ids().end());
  running[1].ReleaseBefore(8);
  EXPECT_EQ(tree.num_evictable(), 2);
  // A use in between makes the first one the more recent.
  Match(tree, {1, 2, 3, 4});
  EXPECT_EQ(tree.Evict(1), 1);
  EXPECT_TRUE(pool_.is_cached(ids[0]));
  EXPECT_FALSE(pool_.is_cached(ids[1]));
  EXPECT_EQ(Length(tree, {1, 2, 3, 4, 5, 6, 7, 8}), 4);
  EXPECT_EQ(Length(tree, kTwelve), 12);
  EXPECT_EQ(tree.Evict(5), 1);
  EXPECT_EQ(Match(tree, {1, 2, 3, 4, 5, 6, 7, 8}).reason, MissReason::kEvicted);
  EXPECT_EQ(tree.num_evictable(), 0);
  tree.CheckInvariants();
}

TEST_F(PrefixTreeEvictTest, LetsBlocksWithoutPagesGoWithTheLastBelowThem) {
  PrefixTree tree(pool_, Options({5}));
  {
    std::vector<BlockTable> tables = Tables(tree, 12);
    tables[0].ReleaseBefore(8);
    tree.Insert(kTwelve, 12, 0, tables);
  }
  EXPECT_EQ(Length(tree, kTwelve), 12);
  EXPECT_EQ(tree.Evict(1), 1);
  EXPECT_EQ(tree.num_nodes(), 0);
  std::vector<BlockTable> tables = Tables(tree, 12);
  tables[0].ReleaseBefore(12);
  tree.Insert(kTwelve, 12, 0, tables);
  EXPECT_EQ(tree.num_nodes(), 0) << "there is nothing to store";
}

}  // namespace
}  // namespace adit::kv
