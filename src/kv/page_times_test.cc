#include "kv/page_times.h"

#include <gtest/gtest.h>

#include "kv/prefix_tree_fixture.h"

namespace adit::kv {
namespace {

int64_t NumValues(const Histogram<kPageSecondBounds>& histogram) {
  int64_t num = 0;
  for (const int64_t count : histogram.counts) num += count;
  return num;
}

// The class that a number of seconds falls into, by the rule of Prometheus: bounds belong to the class below.
int64_t CountOf(const Histogram<kPageSecondBounds>& histogram, double seconds) {
  size_t index = 0;
  while (index < kPageSecondBounds.size() && kPageSecondBounds[index] < seconds) ++index;
  return histogram.counts[index];
}

TEST(PageTimes, BoundsBelongToTheClassBelow) {
  Histogram<kPageSecondBounds> histogram;
  histogram.Observe(0.001);
  histogram.Observe(0.0011);
  histogram.Observe(1e9);
  EXPECT_EQ(histogram.counts.front(), 1);
  EXPECT_EQ(histogram.counts[1], 1);
  EXPECT_EQ(histogram.counts.back(), 1);
  EXPECT_EQ(histogram.sum, 1e9 + 0.0021);
}

TEST(PageTimes, GoNoFurtherBackThanTheLast) {
  PageTimes times(1);
  times.AdvanceTo(5.0);
  times.Come(0);
  times.AdvanceTo(3.0);
  times.Evict(0);
  EXPECT_EQ(times.stats().lifetime.sum, 0.0);
}

class PageTimesOfTree : public PrefixTreeTest {};

TEST_F(PageTimesOfTree, AreCountedWhenPagesAreReusedAndEvicted) {
  tree_.AdvanceTo(100.0);
  (void)Store(tree_, kTwelve);  // three pages
  EXPECT_EQ(NumValues(tree_.page_times().reuse), 0);

  tree_.AdvanceTo(103.0);
  const PrefixMatch match = tree_.Match(kTwelve, 8, 0);
  ASSERT_EQ(match.num_tokens, 8);
  EXPECT_EQ(NumValues(tree_.page_times().reuse), 2);
  EXPECT_EQ(CountOf(tree_.page_times().reuse, 3.0), 2);
  EXPECT_EQ(tree_.page_times().reuse.sum, 6.0);

  tree_.AdvanceTo(110.0);
  ASSERT_EQ(tree_.Evict(1), 1) << "the third page, which nobody holds";
  EXPECT_EQ(NumValues(tree_.page_times().lifetime), 1);
  EXPECT_EQ(tree_.page_times().lifetime.sum, 10.0);
  EXPECT_EQ(tree_.page_times().idle.sum, 10.0) << "nobody has used it since it came";
}

TEST_F(PageTimesOfTree, CountIdlenessFromTheEndOfTheLastUse) {
  std::vector<BlockTable> first = Store(tree_, kTwelve);
  first.clear();
  tree_.AdvanceTo(20.0);
  { const PrefixMatch match = tree_.Match(kTwelve, 12, 0); }
  tree_.AdvanceTo(50.0);
  (void)Store(tree_, kTwelve);  // the sequence that found them ends
  tree_.AdvanceTo(51.0);
  ASSERT_EQ(tree_.Evict(3), 3);
  EXPECT_EQ(NumValues(tree_.page_times().lifetime), 3);
  EXPECT_EQ(tree_.page_times().lifetime.sum, 3 * 51.0);
  EXPECT_EQ(tree_.page_times().idle.sum, 3 * 1.0);
}

TEST_F(PageTimesOfTree, CountNothingWhenTheCacheIsCleared) {
  (void)Store(tree_, kTwelve);
  tree_.AdvanceTo(9.0);
  tree_.Clear();
  EXPECT_EQ(NumValues(tree_.page_times().lifetime), 0);
}

}  // namespace
}  // namespace adit::kv
