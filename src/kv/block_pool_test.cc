#include "kv/block_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace adit::kv {
namespace {

static_assert(!std::is_copy_constructible_v<BlockHandle> && !std::is_copy_assignable_v<BlockHandle>);
static_assert(std::is_nothrow_move_constructible_v<BlockHandle> && std::is_nothrow_move_assignable_v<BlockHandle>);
static_assert(!std::is_move_constructible_v<BlockPool> && !std::is_move_assignable_v<BlockPool>);

// Precondition: a block is free.
BlockHandle Take(BlockPool& pool) {
  std::optional<BlockHandle> handle = pool.Allocate();
  EXPECT_TRUE(handle.has_value());
  return *std::move(handle);
}

TEST(BlockPool, HandsOutEveryBlockOnceThenNone) {
  BlockPool pool(3);
  EXPECT_EQ(pool.num_blocks(), 3);
  EXPECT_EQ(pool.num_free(), 3);
  const BlockHandle a = Take(pool), b = Take(pool), c = Take(pool);
  EXPECT_EQ(a.id(), 0);
  EXPECT_EQ(b.id(), 1);
  EXPECT_EQ(c.id(), 2);
  EXPECT_EQ(pool.num_free(), 0);
  EXPECT_FALSE(pool.Allocate().has_value());
  EXPECT_EQ(pool.num_free(), 0);
}

TEST(BlockPool, OfNoBlocksHasNothingToGive) {
  BlockPool pool(0);
  EXPECT_EQ(pool.num_free(), 0);
  EXPECT_FALSE(pool.Allocate().has_value());
}

TEST(BlockPool, TakesABlockBackWhenItsHandleGoes) {
  BlockPool pool(2);
  {
    const BlockHandle handle = Take(pool);
    EXPECT_EQ(pool.ref_count(handle.id()), 1);
    EXPECT_EQ(pool.num_free(), 1);
  }
  EXPECT_EQ(pool.ref_count(0), 0);
  EXPECT_EQ(pool.num_free(), 2);
}

TEST(BlockPool, HandsOutTheBlockThatWasFreedLast) {
  BlockPool pool(4);
  BlockHandle a = Take(pool), b = Take(pool), c = Take(pool);
  b.Reset();
  a.Reset();
  const BlockHandle first = Take(pool), second = Take(pool), third = Take(pool);
  EXPECT_EQ(first.id(), 0);
  EXPECT_EQ(second.id(), 1);
  EXPECT_EQ(third.id(), 3);
}

TEST(BlockPool, KeepsASharedBlockUntilTheLastHandleGoes) {
  BlockPool pool(1);
  BlockHandle a = Take(pool);
  BlockHandle b = pool.Share(a);
  BlockHandle c = pool.Share(b);
  EXPECT_EQ(b.id(), a.id());
  EXPECT_EQ(pool.ref_count(a.id()), 3);
  a.Reset();
  c.Reset();
  EXPECT_EQ(pool.ref_count(b.id()), 1);
  EXPECT_FALSE(pool.Allocate().has_value());
  b.Reset();
  EXPECT_EQ(pool.num_free(), 1);
}

TEST(BlockHandle, GivesItsReferenceBackOnlyOnce) {
  BlockPool pool(2);
  BlockHandle a = Take(pool);
  BlockHandle b = pool.Share(a);
  a.Reset();
  a.Reset();
  EXPECT_FALSE(a);
  EXPECT_EQ(pool.ref_count(b.id()), 1);
  EXPECT_EQ(pool.num_free(), 1);
}

TEST(BlockHandle, MovesItsReferenceWithoutCountingIt) {
  BlockPool pool(2);
  BlockHandle a = Take(pool);
  BlockHandle b = std::move(a);
  EXPECT_FALSE(a);  // NOLINT(bugprone-use-after-move): a moved handle is empty
  EXPECT_TRUE(b);
  EXPECT_EQ(pool.ref_count(0), 1);
  BlockHandle c = Take(pool);
  c = std::move(b);
  EXPECT_EQ(c.id(), 0);
  EXPECT_EQ(pool.ref_count(0), 1);
  EXPECT_EQ(pool.ref_count(1), 0) << "the handle assigned to lets go of its block";
}

TEST(BlockHandle, SurvivesAssignmentToItself) {
  BlockPool pool(1);
  BlockHandle a = Take(pool);
  BlockHandle& same = a;
  a = std::move(same);
  EXPECT_TRUE(a);
  EXPECT_EQ(pool.ref_count(0), 1);
}

TEST(BlockHandle, EmptyByDefault) {
  BlockHandle handle;
  EXPECT_FALSE(handle);
  handle.Reset();
  EXPECT_FALSE(handle);
}

TEST(BlockPoolDeathTest, ChecksThatEveryBlockIsBack) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::optional<BlockHandle> leaked;
        BlockPool pool(1);
        leaked = pool.Allocate();
      },
      "num_free");
}

TEST(BlockPoolDeathTest, RefusesToShareWhatIsNotItsOwn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  BlockPool pool(1);
  BlockPool other(1);
  const BlockHandle handle = Take(other);
  EXPECT_DEATH((void)pool.Share(BlockHandle()), "pool_ == this");
  EXPECT_DEATH((void)pool.Share(handle), "pool_ == this");
}

TEST(BlockPool, CountsCachedBlocksWithoutAnotherUser) {
  BlockPool pool(3);
  BlockHandle a = Take(pool), b = Take(pool);
  pool.MarkCached(a.id());
  EXPECT_TRUE(pool.is_cached(a.id()));
  EXPECT_TRUE(pool.is_idle(a.id()));
  EXPECT_EQ(pool.num_idle(), 1);
  BlockHandle user = pool.Share(b);
  pool.MarkCached(b.id());
  EXPECT_FALSE(pool.is_idle(b.id()));
  EXPECT_EQ(pool.num_idle(), 1);
  BlockHandle second_user = pool.Share(a);
  EXPECT_EQ(pool.num_idle(), 0);
  user.Reset();
  second_user.Reset();
  EXPECT_EQ(pool.num_idle(), 2);
  EXPECT_EQ(pool.oldest_idle(), b.id()) << "the one whose user went first";
  EXPECT_EQ(pool.next_idle(b.id()), a.id());
  EXPECT_EQ(pool.next_idle(a.id()), IdList::kNone);
  pool.UnmarkCached(a.id());
  pool.UnmarkCached(b.id());
  EXPECT_EQ(pool.num_idle(), 0);
  EXPECT_EQ(pool.oldest_idle(), IdList::kNone);
}

TEST(BlockPool, TellsOnceWhenAWatchedBlockBecomesIdle) {
  BlockPool pool(2);
  BlockHandle a = Take(pool);
  pool.MarkCached(a.id());
  BlockHandle user = pool.Share(a);
  pool.Watch(a.id());
  EXPECT_EQ(pool.TakeWoken(), std::nullopt);
  user.Reset();
  EXPECT_EQ(pool.TakeWoken(), a.id());
  EXPECT_EQ(pool.TakeWoken(), std::nullopt);
  user = pool.Share(a);
  user.Reset();
  EXPECT_EQ(pool.TakeWoken(), std::nullopt) << "a watch ends when it has told";
  pool.UnmarkCached(a.id());
}

TEST(IdList, KeepsTheOrderOfAddition) {
  IdList list(5);
  EXPECT_EQ(list.front(), IdList::kNone);
  for (const int32_t id : {3, 0, 4, 1}) list.PushBack(id);
  list.Remove(0);
  list.Remove(3);
  list.PushBack(3);
  EXPECT_EQ(list.size(), 3);
  EXPECT_EQ(list.front(), 4);
  EXPECT_EQ(list.next(4), 1);
  EXPECT_EQ(list.next(1), 3);
  EXPECT_EQ(list.next(3), IdList::kNone);
  EXPECT_TRUE(list.contains(1));
  EXPECT_FALSE(list.contains(0));
  EXPECT_FALSE(list.contains(2));
}

// 100,000 random steps beside a model that counts references in a map and keeps the free ids in a stack.
TEST(BlockPool, AgreesWithABruteForceModel) {
  constexpr int32_t kBlocks = 37;
  constexpr int kSteps = 100'000;
  constexpr uint32_t kSeed = 20'240'501;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 rng(kSeed);
  BlockPool pool(kBlocks);
  std::vector<BlockHandle> handles;
  std::map<int32_t, int> counts;
  std::vector<int32_t> free_stack;
  for (int32_t id = kBlocks; id-- > 0;) free_stack.push_back(id);

  const auto model_release = [&](int32_t id) {
    if (--counts[id] > 0) return;
    counts.erase(id);
    free_stack.push_back(id);
  };
  for (int step = 0; step < kSteps; ++step) {
    // The share of steps that let go swings, so that the pool is now nearly full, now nearly empty.
    const uint32_t release_share = step / 5'000 % 2 == 0 ? 30 : 70;
    const size_t pick = handles.empty() ? 0 : rng() % handles.size();
    if (rng() % 100 < release_share) {
      if (handles.empty()) continue;
      model_release(handles[pick].id());
      std::swap(handles[pick], handles.back());
      handles.pop_back();
    } else if (rng() % 3 == 0 && !handles.empty() && handles.size() < 4 * kBlocks) {
      ++counts[handles[pick].id()];
      handles.push_back(pool.Share(handles[pick]));
    } else {
      std::optional<BlockHandle> handle = pool.Allocate();
      ASSERT_EQ(handle.has_value(), !free_stack.empty()) << "step " << step;
      if (!handle) continue;
      ASSERT_EQ(handle->id(), free_stack.back()) << "step " << step;
      free_stack.pop_back();
      ASSERT_EQ(counts.count(handle->id()), 0u) << "step " << step << ": a block handed out twice";
      counts[handle->id()] = 1;
      handles.push_back(*std::move(handle));
    }
    ASSERT_EQ(pool.num_free(), static_cast<int32_t>(free_stack.size())) << "step " << step;
    for (int32_t id = 0; id < kBlocks; ++id) {
      const auto found = counts.find(id);
      ASSERT_EQ(pool.ref_count(id), found == counts.end() ? 0 : found->second) << "step " << step << ", block " << id;
    }
  }
  handles.clear();
  EXPECT_EQ(pool.num_free(), kBlocks);
}

}  // namespace
}  // namespace adit::kv
