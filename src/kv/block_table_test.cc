#include "kv/block_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

namespace adit::kv {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

static_assert(!std::is_copy_constructible_v<BlockTable>);
static_assert(std::is_nothrow_move_constructible_v<BlockTable>);

TEST(BlockTable, TakesABlockForEveryBlockSizeTokensOrPart) {
  BlockPool pool(10);
  BlockTable table(pool, 16);
  EXPECT_EQ(table.block_size(), 16);
  EXPECT_THAT(table.ids(), IsEmpty());
  EXPECT_TRUE(table.Reserve(0));
  EXPECT_THAT(table.ids(), IsEmpty());
  EXPECT_TRUE(table.Reserve(1));
  EXPECT_THAT(table.ids(), ElementsAre(0));
  EXPECT_TRUE(table.Reserve(16));
  EXPECT_THAT(table.ids(), ElementsAre(0));
  EXPECT_EQ(table.capacity_tokens(), 16);
  EXPECT_TRUE(table.Reserve(17));
  EXPECT_THAT(table.ids(), ElementsAre(0, 1));
  EXPECT_TRUE(table.Reserve(80));
  EXPECT_THAT(table.ids(), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(pool.num_free(), 5);
}

TEST(BlockTable, NeverShrinksByReserving) {
  BlockPool pool(4);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(16));
  EXPECT_TRUE(table.Reserve(1));
  EXPECT_EQ(table.num_blocks(), 4);
}

TEST(BlockTable, TakesAllOrNothing) {
  BlockPool pool(5);
  BlockTable first(pool, 8);
  BlockTable second(pool, 8);
  ASSERT_TRUE(first.Reserve(24));
  ASSERT_TRUE(second.Reserve(8));
  EXPECT_FALSE(second.Reserve(25)) << "three more blocks, one is free";
  EXPECT_THAT(second.ids(), ElementsAre(3));
  EXPECT_EQ(pool.num_free(), 1);
  EXPECT_TRUE(second.Reserve(16));
  EXPECT_EQ(pool.num_free(), 0);
  EXPECT_TRUE(second.Reserve(16)) << "a full pool does not matter to a table that has what it needs";
}

TEST(BlockTable, SaysWhatReservingWouldTake) {
  BlockPool pool(5);
  BlockTable table(pool, 8);
  EXPECT_EQ(table.BlocksToReserve(0), 0);
  EXPECT_EQ(table.BlocksToReserve(17), 3);
  ASSERT_TRUE(table.Reserve(9));
  EXPECT_EQ(table.BlocksToReserve(17), 1);
  EXPECT_EQ(table.BlocksToReserve(1), 0);
  EXPECT_EQ(table.BlocksToReserve(800), 98);
}

TEST(BlockTable, RefusesCountsThatNoPoolCanHold) {
  BlockPool pool(2);
  BlockTable table(pool, 1);
  EXPECT_FALSE(table.Reserve(std::numeric_limits<int64_t>::max()));
  EXPECT_FALSE(table.Reserve(int64_t{1} << 40));
  EXPECT_EQ(pool.num_free(), 2);
}

TEST(BlockTable, TruncatesToTheBlocksThatHoldTheTokens) {
  BlockPool pool(4);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(16));
  table.Truncate(100);
  EXPECT_EQ(table.num_blocks(), 4);
  table.Truncate(9);
  EXPECT_THAT(table.ids(), ElementsAre(0, 1, 2));
  table.Truncate(8);
  EXPECT_THAT(table.ids(), ElementsAre(0, 1));
  EXPECT_EQ(pool.num_free(), 2);
  ASSERT_TRUE(table.Reserve(16));
  EXPECT_THAT(table.ids(), ElementsAre(0, 1, 2, 3)) << "what was given back last is taken first";
  table.Truncate(0);
  EXPECT_THAT(table.ids(), IsEmpty());
  EXPECT_EQ(pool.num_free(), 4);
}

TEST(BlockTable, GivesEverythingBackAtItsEnd) {
  BlockPool pool(4);
  {
    BlockTable table(pool, 4);
    ASSERT_TRUE(table.Reserve(16));
    EXPECT_EQ(pool.num_free(), 0);
  }
  EXPECT_EQ(pool.num_free(), 4);
}

TEST(BlockTable, MovesWithItsBlocks) {
  BlockPool pool(4);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(8));
  BlockTable moved = std::move(table);
  EXPECT_THAT(moved.ids(), ElementsAre(0, 1));
  EXPECT_EQ(pool.num_free(), 2);
  BlockTable other(pool, 4);
  ASSERT_TRUE(other.Reserve(8));
  other = std::move(moved);
  EXPECT_THAT(other.ids(), ElementsAre(0, 1));
  EXPECT_EQ(pool.num_free(), 2);
}

TEST(BlockTable, KeepsItsPlaceInMemoryUpToMaxTokens) {
  BlockPool pool(64);
  BlockTable table(pool, 16, 1000);
  ASSERT_TRUE(table.Reserve(1));
  const int32_t* before = table.ids().data();
  ASSERT_TRUE(table.Reserve(1000));
  EXPECT_EQ(table.ids().data(), before);
  BlockTable unlimited(pool, 16, std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(unlimited.Reserve(16));
}

TEST(BlockTable, AdoptsSharedBlocks) {
  BlockPool pool(4);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(8));
  BlockTable other(pool, 4);
  other.Append(pool.Share(table.handle(0)));
  EXPECT_THAT(other.ids(), ElementsAre(0));
  EXPECT_EQ(pool.ref_count(0), 2);
  ASSERT_TRUE(other.Reserve(8));
  EXPECT_THAT(other.ids(), ElementsAre(0, 2));
  other.Replace(1, pool.Share(table.handle(1)));
  EXPECT_THAT(other.ids(), ElementsAre(0, 1));
  EXPECT_EQ(pool.ref_count(2), 0);
}

TEST(BlockTable, LetsGoOfBlocksBeforeAPositionAndKeepsTheIndices) {
  BlockPool pool(6);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(14));
  EXPECT_EQ(table.ReleaseBefore(-3), 0);
  EXPECT_EQ(table.ReleaseBefore(3), 0);
  EXPECT_EQ(table.ReleaseBefore(9), 2);
  EXPECT_EQ(table.ReleaseBefore(9), 0);
  EXPECT_THAT(table.ids(), ElementsAre(-1, -1, 2, 3));
  EXPECT_FALSE(table.handle(1));
  EXPECT_TRUE(table.handle(2));
  EXPECT_EQ(table.num_released(), 2);
  EXPECT_EQ(pool.num_free(), 4);
  EXPECT_EQ(table.BlocksToReserve(20), 1);
  ASSERT_TRUE(table.Reserve(20));
  EXPECT_THAT(table.ids(), ElementsAre(-1, -1, 2, 3, 1));
  EXPECT_EQ(table.ReleaseBefore(1'000), 3);
  EXPECT_THAT(table.ids(), ElementsAre(-1, -1, -1, -1, -1));
  EXPECT_EQ(pool.num_free(), 6);
}

TEST(BlockTable, TruncatesAndGrowsAcrossBlocksThatWereLetGo) {
  BlockPool pool(4);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(16));
  table.ReleaseBefore(8);
  table.Truncate(12);
  EXPECT_THAT(table.ids(), ElementsAre(-1, -1, 2));
  table.Truncate(4);
  EXPECT_THAT(table.ids(), ElementsAre(-1));
  EXPECT_EQ(table.num_released(), 1);
  EXPECT_EQ(pool.num_free(), 4);
  ASSERT_TRUE(table.Reserve(8));
  EXPECT_THAT(table.ids(), ElementsAre(-1, 2));
  EXPECT_EQ(table.ReleaseBefore(8), 1);
  EXPECT_EQ(pool.num_free(), 4);
}

TEST(BlockTable, AdoptsTheGapThatAnotherTableHas) {
  BlockPool pool(4);
  BlockTable table(pool, 4);
  table.Append(BlockHandle());
  table.Append(BlockHandle());
  ASSERT_TRUE(table.Reserve(12));
  EXPECT_THAT(table.ids(), ElementsAre(-1, -1, 0));
  EXPECT_EQ(table.num_released(), 2);
  const BlockTable fork = table.Fork();
  EXPECT_THAT(fork.ids(), ElementsAre(-1, -1, 0));
  EXPECT_EQ(fork.num_released(), 2);
  EXPECT_EQ(pool.ref_count(0), 2);
}

TEST(BlockTable, CopiesASharedBlockBeforeItIsWritten) {
  BlockPool pool(3);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(8));
  EXPECT_EQ(table.MakeWritable(1).state, WritableBlock::State::kAlone);
  BlockTable fork = table.Fork();
  {
    const WritableBlock block = fork.MakeWritable(1);
    EXPECT_EQ(block.state, WritableBlock::State::kCopied);
    EXPECT_EQ(block.from.id(), 1);
    EXPECT_EQ(block.to, 2);
    EXPECT_EQ(pool.ref_count(1), 2) << "pinned until it is copied, whatever its other owner does";
  }
  EXPECT_EQ(pool.ref_count(1), 1);
  EXPECT_THAT(table.ids(), ElementsAre(0, 1));
  EXPECT_THAT(fork.ids(), ElementsAre(0, 2));
  EXPECT_EQ(fork.MakeWritable(1).state, WritableBlock::State::kAlone);
  EXPECT_EQ(fork.MakeWritable(0).state, WritableBlock::State::kNoFreeBlock);
  EXPECT_THAT(fork.ids(), ElementsAre(0, 2));
}

TEST(BlockTableDeathTest, RefusesBlocksItDoesNotHold) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  BlockPool pool(4);
  BlockTable table(pool, 4);
  ASSERT_TRUE(table.Reserve(8));
  table.ReleaseBefore(4);
  EXPECT_DEATH((void)table.MakeWritable(0), "num_released_");
  EXPECT_DEATH((void)table.MakeWritable(2), "num_blocks");
  EXPECT_DEATH(table.Replace(0, pool.Share(table.handle(1))), "num_released_");
  EXPECT_DEATH(table.Append(BlockHandle()), "num_released_");
}

// 100,000 random steps of eight sequences beside a model that knows only how many tokens each may hold.
TEST(BlockTable, AgreesWithABruteForceModel) {
  constexpr int32_t kBlocks = 50;
  constexpr int kTables = 8;
  constexpr int kSteps = 100'000;
  constexpr uint32_t kSeed = 7;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  std::mt19937 rng(kSeed);
  BlockPool pool(kBlocks);
  struct Sequence {
    BlockTable table;
    std::vector<int32_t> expected_ids;
  };
  std::vector<Sequence> sequences;
  const auto new_sequence = [&] { return Sequence{BlockTable(pool, 1 + static_cast<int64_t>(rng() % 5)), {}}; };
  for (int i = 0; i < kTables; ++i) sequences.push_back(new_sequence());

  int64_t refused = 0;
  for (int step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    Sequence& sequence = sequences[rng() % kTables];
    BlockTable& table = sequence.table;
    const int64_t num_tokens = static_cast<int64_t>(rng() % 60);
    const int64_t needed = (num_tokens + table.block_size() - 1) / table.block_size();
    const int64_t held = static_cast<int64_t>(sequence.expected_ids.size());
    switch (rng() % 8) {
      case 0:
        sequence = new_sequence();
        break;
      case 1:
      case 2:
        table.Truncate(num_tokens);
        if (needed < held) sequence.expected_ids.resize(static_cast<size_t>(needed));
        break;
      default: {
        const bool fits = needed - held <= pool.num_free();
        ASSERT_EQ(table.Reserve(num_tokens), fits);
        if (!fits) ++refused;
        if (fits && needed > held) {
          const std::vector<int32_t> before = sequence.expected_ids;
          sequence.expected_ids.assign(table.ids().begin(), table.ids().end());
          ASSERT_EQ(sequence.expected_ids.size(), static_cast<size_t>(needed));
          ASSERT_TRUE(std::equal(before.begin(), before.end(), sequence.expected_ids.begin()));
        }
      }
    }
    // No block is in two tables, and what no table holds is free.
    std::array<int, kBlocks> num_holders{};
    size_t total = 0;
    for (const Sequence& each : sequences) {
      ASSERT_TRUE(std::ranges::equal(each.table.ids(), each.expected_ids));
      for (const int32_t id : each.expected_ids) ASSERT_EQ(++num_holders[static_cast<size_t>(id)], 1) << "block " << id;
      total += each.expected_ids.size();
    }
    ASSERT_EQ(pool.num_free(), kBlocks - static_cast<int32_t>(total));
  }
  EXPECT_GT(refused, 1'000) << "the pool must have been short of blocks now and then";
  sequences.clear();
  EXPECT_EQ(pool.num_free(), kBlocks);
}

}  // namespace
}  // namespace adit::kv
