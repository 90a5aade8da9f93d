#include "sample/select_top.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sample/test_rows.h"

namespace adit::sample {
namespace {

std::vector<int32_t> Indices(const std::vector<Ranked>& ranked) {
  std::vector<int32_t> indices;
  for (const Ranked& each : ranked) indices.push_back(static_cast<int32_t>(each.index));
  return indices;
}

void ExpectTop(const std::vector<float>& row, int64_t k) {
  SCOPED_TRACE(testing::Message() << "vocabulary " << row.size() << ", k " << k);
  std::vector<int32_t> expected = RankedIds(row);
  expected.resize(std::min(expected.size(), static_cast<size_t>(k)));
  std::vector<Ranked> top;
  SelectTop(row, k, top);
  ASSERT_EQ(Indices(top), expected);
  for (const Ranked& each : top) ASSERT_EQ(each.logit, row[static_cast<size_t>(each.index)]);
  SelectTopUnordered(row, k, top);
  if (!expected.empty()) {
    ASSERT_EQ(top.back().index, expected.back());
  }
  std::vector<int32_t> unordered = Indices(top);
  std::sort(unordered.begin(), unordered.end());
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(unordered, expected);
}

TEST(SelectTop, AgreesWithSortingOnRandomRows) {
  std::mt19937 rng(1);
  for (const int64_t vocab_size : {1, 2, 63, 64, 65, 200, 3'000}) {
    for (const int64_t k : {0, 1, 2, 5, 20, 40, 64, 199, 200, 5'000}) {
      ExpectTop(NormalRow(rng, vocab_size, 1), k);
      ExpectTop(RowWithTies(rng, vocab_size), k);
    }
  }
}

TEST(SelectTop, DoesNotMindTheOrderOfTheRow) {
  std::vector<float> row(2'000);
  std::iota(row.begin(), row.end(), -1'000.0f);
  for (const int64_t k : {1, 7, 64, 1'999}) ExpectTop(row, k);
  std::reverse(row.begin(), row.end());
  for (const int64_t k : {1, 7, 64, 1'999}) ExpectTop(row, k);
  row.assign(row.size(), 4.0f);
  for (const int64_t k : {1, 7, 64, 1'999}) ExpectTop(row, k);
}

TEST(SelectTop, LeavesOutWhatCannotBePicked) {
  ExpectTop({kTestNaN, -kTestInfinity, 2, kTestNaN, kTestInfinity, 2}, 4);
  ExpectTop(std::vector<float>(100, kTestNaN), 10);
  ExpectTop({}, 3);
}

TEST(SelectTop, NeedsNoMoreMemoryThanItSays) {
  std::vector<float> row(100'000);
  std::iota(row.begin(), row.end(), 0.0f);
  std::vector<Ranked> top;
  SelectTop(row, 20, top);
  EXPECT_LE(top.capacity(), 2u * 20 + 64);
}

}  // namespace
}  // namespace adit::sample
