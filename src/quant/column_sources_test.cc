#include "quant/column_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace adit::quant {
namespace {

using testing::ElementsAre;

TEST(ColumnSources, HeadsOfQueriesShareAHeadOfValues) {
  EXPECT_THAT(SourcesOfAttended(8, 2, 2), ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_THAT(SourcesOfAttended(4, 2, 1), ElementsAre(0, 1, 2, 3));
}

TEST(ColumnSources, ColumnsOfOneSourceHaveOneValue) {
  const std::vector<int64_t> sources = {0, 1, 0, 1};
  EXPECT_THAT(MeanOfSources({1, 2, 3, 6}, sources), ElementsAre(2, 4, 2, 4));
  EXPECT_THAT(LargestOfSources({1, 2, 3, 6}, sources), ElementsAre(3, 6, 3, 6));
  EXPECT_THAT(MeanOfSources({1, 2, 3}, {}), ElementsAre(1, 2, 3));
  EXPECT_THAT(LargestOfSources({1, 2, 3}, {}), ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace adit::quant
