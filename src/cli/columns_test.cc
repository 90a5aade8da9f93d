#include "cli/columns.h"

#include <gtest/gtest.h>

namespace adit::cli {
namespace {

TEST(Columns, StandBelowEachOther) {
  EXPECT_EQ(Columns({{"NAME", "SIZE", "MORE"}, {"a", "1", ""}, {"long name", "10", ""}}),
            "NAME       SIZE\n"
            "a          1\n"
            "long name  10\n");
  EXPECT_EQ(Columns({}), "");
}

}  // namespace
}  // namespace adit::cli
