#include "kv/prefix_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kv/prefix_tree_fixture.h"

namespace adit::kv {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(PrefixTreeTest, FindsWholeBlocksOfWhatIsStored) {
  Store(tree_, kTen);
  EXPECT_EQ(tree_.num_blocks(), 2) << "the last two tokens fill no block";
  EXPECT_EQ(tree_.num_nodes(), 1);
  const PrefixMatch match = Match(tree_, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
  EXPECT_EQ(match.num_tokens, 8);
  EXPECT_THAT(match.blocks, ElementsAre(SizeIs(2)));
  EXPECT_EQ(match.partial_tokens, 0);
  EXPECT_THAT(match.partial, IsEmpty());
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeTest, GivesThePagesThatWereStored) {
  const std::vector<BlockTable> tables = Store(tree_, kTwelve);
  const PrefixMatch match = Match(tree_, kTwelve);
  EXPECT_THAT(Ids(match.blocks[0]), testing::ElementsAreArray(tables[0].ids()));
  EXPECT_EQ(pool_.ref_count(match.blocks[0][0].id()), 3) << "the sequence, the tree, the match";
}

TEST_F(PrefixTreeTest, FindsNoMoreThanMaxTokens) {
  Store(tree_, kTwelve);
  EXPECT_EQ(tree_.Match(kTwelve, 8, 0).num_tokens, 8);
  EXPECT_EQ(tree_.Match(kTwelve, 7, 0).num_tokens, 4);
  EXPECT_EQ(tree_.Match(kTwelve, 0, 0).num_tokens, 0);
  EXPECT_EQ(tree_.Match(kTwelve, -1, 0).num_tokens, 0);
  EXPECT_EQ(tree_.Match(kTwelve, 1'000, 0).num_tokens, 12);
}

TEST_F(PrefixTreeTest, SplitsWherePromptsPart) {
  Store(tree_, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3});
  Store(tree_, {1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4});
  Store(tree_, {1, 1, 1, 1, 5, 5, 5, 5});
  EXPECT_EQ(tree_.num_blocks(), 5);
  EXPECT_EQ(tree_.num_nodes(), 5);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4}), 12);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}), 12);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1, 5, 5, 5, 5}), 8);
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeTest, TakesItsOwnPagesInPlaceOfDuplicates) {
  const std::vector<BlockTable> first = Store(tree_, kTen);
  std::vector<BlockTable> second = Tables(tree_, 12);
  const int32_t last = second[0].ids()[2];
  tree_.Insert(kTwelve, 12, 0, second);
  EXPECT_THAT(second[0].ids(), ElementsAre(first[0].ids()[0], first[0].ids()[1], last));
  EXPECT_EQ(tree_.num_blocks(), 3);
  EXPECT_EQ(pool_.num_blocks() - pool_.num_free(), 4) << "the duplicates are back; one page holds tokens 9 and 10";
}

// Two prompts whose hashes are equal are still two prompts.
TEST_F(PrefixTreeTest, NeverTrustsAHash) {
  PrefixTreeOptions options = Options({0});
  options.hash = [](uint64_t, std::span<const int32_t>) { return uint64_t{7}; };
  PrefixTree tree(pool_, options);
  Store(tree, {1, 1, 1, 1, 3, 3, 3, 3});
  EXPECT_EQ(Length(tree, {2, 2, 2, 2, 3, 3, 3, 3}), 0);
  EXPECT_EQ(Match(tree, {2, 2, 2, 2, 3, 3, 3, 3}).num_tokens, 0);
  EXPECT_EQ(Match(tree, {1, 1, 1, 1, 2, 2, 2, 2}).num_tokens, 4);
  Store(tree, {2, 2, 2, 2, 3, 3, 3, 3});
  EXPECT_EQ(tree.num_blocks(), 4);
  EXPECT_EQ(Match(tree, {2, 2, 2, 2, 3, 3, 3, 3}).num_tokens, 8);
  EXPECT_EQ(Match(tree, {1, 1, 1, 1, 3, 3, 3, 3}, 1).num_tokens, 0) << "another salt";
  tree.CheckInvariants();
}

TEST_F(PrefixTreeTest, KeepsSaltsApart) {
  Store(tree_, kTwelve, 1);
  EXPECT_EQ(Length(tree_, kTwelve, 1), 12);
  EXPECT_EQ(Length(tree_, kTwelve, 2), 0);
  const PrefixMatch match = Match(tree_, kTwelve, 2);
  EXPECT_EQ(match.num_tokens, 0);
  EXPECT_EQ(match.partial_tokens, 0) << "not even a part";
  const std::vector<BlockTable> tables = Store(tree_, kTwelve, 2);
  EXPECT_EQ(tree_.num_blocks(), 6);
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeTest, FindsTheBlockToCopyAtTheFirstTokenThatDiffers) {
  Store(tree_, {1, 1, 1, 1, 2, 2, 7, 7});
  Store(tree_, {1, 1, 1, 1, 2, 2, 2, 8});
  const PrefixMatch match = Match(tree_, {1, 1, 1, 1, 2, 2, 2, 9, 9});
  EXPECT_EQ(match.num_tokens, 4);
  EXPECT_EQ(match.partial_tokens, 3);
  const PrefixMatch source = Match(tree_, {1, 1, 1, 1, 2, 2, 2, 8});
  EXPECT_THAT(Ids(match.partial), ElementsAre(source.blocks[0][1].id()));
  EXPECT_EQ(match.reason, MissReason::kDiverged);
  EXPECT_EQ(match.miss_position, 7);
  EXPECT_EQ(match.stored_token, 8);
}

TEST_F(PrefixTreeTest, CopiesWithinAnEdgeAndBeforeTheLastToken) {
  Store(tree_, kTwelve);
  const PrefixMatch within = Match(tree_, {1, 2, 3, 4, 5, 6, 70, 8, 9});
  EXPECT_EQ(within.num_tokens, 4);
  EXPECT_EQ(within.partial_tokens, 2);
  // All is stored, but the last token must run.
  const PrefixMatch all = tree_.Match(kTwelve, 11, 0);
  EXPECT_EQ(all.num_tokens, 8);
  EXPECT_EQ(all.partial_tokens, 3);
  EXPECT_EQ(all.reason, MissReason::kNone);
  EXPECT_EQ(all.miss_position, 11);
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeTest, LooksAtTheSixteenMostRecentBlocksForOneToCopy) {
  const auto prompt = [](int32_t i) { return Tokens{100 + i, 1, 2, 3}; };
  for (int32_t i = 0; i < 17; ++i) Store(tree_, prompt(i));
  EXPECT_EQ(Match(tree_, {100, 1, 9, 9}).partial_tokens, 0);
  EXPECT_EQ(Match(tree_, {101, 1, 9, 9}).partial_tokens, 2);
  Match(tree_, prompt(0));
  EXPECT_EQ(Match(tree_, {100, 1, 9, 9}).partial_tokens, 2) << "the most recent one now";
}

TEST_F(PrefixTreeTest, PinsWhatItGivesOut) {
  Store(tree_, kTwelve);
  EXPECT_EQ(tree_.num_evictable(), 3);
  {
    const PrefixMatch match = Match(tree_, {1, 2, 3, 4, 5, 6, 7, 9});
    EXPECT_EQ(match.partial_tokens, 3);
    EXPECT_EQ(tree_.num_evictable(), 1) << "one is matched and one to be copied";
    EXPECT_EQ(tree_.Evict(3), 1);
    EXPECT_EQ(tree_.num_blocks(), 2);
  }
  EXPECT_EQ(tree_.num_evictable(), 2);
}

TEST_F(PrefixTreeTest, MeasuresAMatchWithoutLeavingATrace) {
  Store(tree_, {1, 1, 1, 1});
  Store(tree_, {2, 2, 2, 2, 3, 3, 3, 3});
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1}), 4);
  EXPECT_EQ(Length(tree_, {2, 2, 2, 2}), 4);
  EXPECT_EQ(tree_.num_nodes(), 2) << "nothing is split";
  EXPECT_EQ(tree_.num_evictable(), 3) << "nothing is held";
  EXPECT_EQ(tree_.stats().queries, 0);
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(Length(tree_, {1, 1, 1, 1}), 0) << "it is the oldest still";
}

TEST_F(PrefixTreeTest, SaysWhyAMatchIsNotLonger) {
  const auto reason = [&](const Tokens& tokens, uint64_t salt = 0) { return Match(tree_, tokens, salt).reason; };
  EXPECT_EQ(reason({1, 2, 3, 4}), MissReason::kEmpty);
  EXPECT_EQ(reason({1, 2, 3}), MissReason::kTooShort);
  EXPECT_EQ(reason({}), MissReason::kTooShort);
  Store(tree_, kTwelve);
  EXPECT_EQ(reason(kTwelve), MissReason::kNone);
  EXPECT_EQ(reason({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}), MissReason::kNone)
      << "nothing more is known";
  EXPECT_EQ(reason({1, 2, 3, 4, 5, 6, 70}), MissReason::kTooShort);
  EXPECT_EQ(reason({2, 2, 2, 2}), MissReason::kDiverged);
  EXPECT_EQ(reason({1, 2, 3, 4, 6, 6, 6, 6}), MissReason::kDiverged);
  EXPECT_EQ(reason({1, 2, 3, 4}, 1), MissReason::kSaltedApart);
  EXPECT_EQ(reason({2, 2, 2, 2}, 1), MissReason::kEmpty);
  Store(tree_, {2, 2, 2, 2}, 1);
  EXPECT_EQ(reason({1, 2, 3, 4}, 1), MissReason::kSaltedApart);
  EXPECT_EQ(tree_.Evict(1), 1);
  EXPECT_EQ(reason(kTwelve), MissReason::kEvicted);
  EXPECT_EQ(Match(tree_, kTwelve).miss_position, 8);
  EXPECT_EQ(tree_.Evict(3), 3);
  EXPECT_EQ(reason({1, 2, 3, 4}), MissReason::kEvicted);
  EXPECT_EQ(reason({3, 3, 3, 3}), MissReason::kEmpty);
  tree_.Clear();
  EXPECT_EQ(reason({1, 2, 3, 4}), MissReason::kEmpty) << "the memory of evictions is cleared too";
}

TEST_F(PrefixTreeTest, TellsTheTokenAgainstWhichItDiverged) {
  Store(tree_, kTwelve);
  const PrefixMatch match = Match(tree_, {1, 2, 3, 4, 50, 6, 7, 8});
  EXPECT_EQ(match.miss_position, 4);
  EXPECT_EQ(match.stored_token, 5);
  EXPECT_EQ(Match(tree_, {9, 2, 3, 4}).stored_token, 1);
  EXPECT_EQ(Match(tree_, kTwelve).stored_token, -1);
}

TEST_F(PrefixTreeTest, ClearsAllButWhatSequencesHold) {
  const std::vector<BlockTable> running = Store(tree_, kTwelve);
  Store(tree_, {2, 2, 2, 2}, 5);
  tree_.Clear();
  EXPECT_EQ(tree_.num_blocks(), 0);
  EXPECT_EQ(tree_.num_nodes(), 0);
  EXPECT_EQ(tree_.num_evictable(), 0);
  EXPECT_EQ(pool_.num_blocks() - pool_.num_free(), 3);
  tree_.CheckInvariants();
}

TEST_F(PrefixTreeTest, CountsWhatHappens) {
  Store(tree_, kTwelve);
  Match(tree_, {1, 2, 3, 4, 5, 6, 60, 60});
  Match(tree_, {1, 2, 3, 4}, 1);
  tree_.Evict(1);
  const PrefixTreeStats& stats = tree_.stats();
  EXPECT_EQ(stats.queries, 2);
  EXPECT_EQ(stats.query_tokens, 12);
  EXPECT_EQ(stats.hit_tokens, 4);
  EXPECT_EQ(stats.partial_tokens, 2);
  EXPECT_EQ(stats.inserted_blocks, 3);
  EXPECT_EQ(stats.evicted_blocks, 1);
  EXPECT_THAT(stats.misses, ElementsAre(0, 0, 1, 0, 1, 0));
}

TEST(MissReason, HasANameOfItsOwn) {
  EXPECT_STREQ(MissReasonName(MissReason::kNone), "none");
  EXPECT_STREQ(MissReasonName(MissReason::kEmpty), "empty");
  EXPECT_STREQ(MissReasonName(MissReason::kDiverged), "diverged");
  EXPECT_STREQ(MissReasonName(MissReason::kEvicted), "evicted");
  EXPECT_STREQ(MissReasonName(MissReason::kSaltedApart), "salted_apart");
  EXPECT_STREQ(MissReasonName(MissReason::kTooShort), "too_short");
}

}  // namespace
}  // namespace adit::kv
